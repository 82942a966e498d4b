"""Page sizes and page tokens."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import JsonObject, describe

if TYPE_CHECKING:
    from pydantic import JsonValue

T = TypeVar("T")
_DIGEST_LENGTH = 8
_NUMBER = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True)
class PageRule:
    """The size of an API's pages if none is requested, and the largest size."""

    default: int
    maximum: int

    def size(self, given: str | None) -> int:
        """Returns a page's size: at most the maximum, as in Google's services; 0 means the default.

        Raises:
            InvalidArgument: the text is a negative number, or no number.
        """
        if not given:
            return self.default
        if not (given.isascii() and given.isdigit()):
            violation = Violation("pageSize", f"{describe(given)} given; allowed: 0 or more")
            raise InvalidArgument.of((violation,))
        return min(int(given[:9]), self.maximum) or self.default


def format_token(key: str, query: str) -> str:
    """Makes the token for the page after ``key`` in the list that ``query`` describes."""
    return base64.urlsafe_b64encode(_digest(query) + key.encode()).decode()


def parse_token(token: str | None, query: str) -> str | None:
    """Returns the key in a token; None without a token.

    Raises:
        InvalidArgument: the token isn't of this list with this filter.
    """
    if not token:
        return None
    try:
        raw = base64.urlsafe_b64decode(token.encode())
        digest, key = raw[:_DIGEST_LENGTH], raw[_DIGEST_LENGTH:].decode()
    except (binascii.Error, ValueError):
        digest, key = b"", ""
    if digest != _digest(query) or not key:
        allowed = "the nextPageToken of the same list with the same filter"
        violation = Violation("pageToken", f"{describe(token)} given; allowed: {allowed}")
        raise InvalidArgument.of((violation,))
    return key


def parse_number_token(token: str | None, query: str) -> int | None:
    """Reads a token as ``parse_token`` does, for a list whose keys are 64-bit integers."""
    key = parse_token(token, query)
    if key is None:
        return None
    if not _NUMBER.fullmatch(key):
        raise InvalidArgument.of(
            (
                Violation(
                    "pageToken",
                    (
                        "the service never returned this token; use nextPageToken of an earlier "
                        "answer"
                    ),
                ),
            )
        )
    return int(key)


def cut_page(
    items: Sequence[T], size: int, token: str | None, query: str
) -> tuple[Sequence[T], str | None]:
    """Returns a page of a list that is here as a whole, and the key of the next page.

    Raises InvalidArgument, as ``parse_number_token`` does.
    """
    begin = max(0, parse_number_token(token, query) or 0)
    end = begin + size
    return items[begin:end], str(end) if len(items) > end else None


def list_json(
    name: str, items: Sequence[JsonValue], next_key: str | None, query: str
) -> JsonObject:
    """Returns a page of the list that ``query`` asks for; a list without items is ``{}``."""
    answer: JsonObject = {name: [*items]} if items else {}
    if next_key is not None:
        answer["nextPageToken"] = format_token(next_key, query)
    return answer


def _digest(query: str) -> bytes:
    """Returns a short digest, which isn't secret: it only recognises tokens of other lists."""
    return hashlib.sha256(query.encode()).digest()[:_DIGEST_LENGTH]
