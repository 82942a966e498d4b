"""The replica API's JSON of wishes: what a server wants of running replicas, and their answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import describe, parse_object

if TYPE_CHECKING:
    from collections.abc import Iterable

    from footplate.wire.json_text import JsonObject

MAX_ANSWER_BYTES = 4 << 20
"""Of the body that answers one wish."""
MAX_ERROR_LENGTH = 1000


@dataclass(frozen=True)
class WishAnswer:
    """What a replica says to a wish: ``text``, or else an ``error``: why there is none."""

    text: str = ""
    error: str = ""


def encode_wishes(wishes: Iterable[tuple[str, str]], cursor: str) -> JsonObject:
    """``wishes`` by id and kind; the supervisor gives ``cursor`` back to say that it has them."""
    return {"wishes": [{"id": name, "kind": kind} for name, kind in wishes], "cursor": cursor}


def decode_wish_answer(body: bytes) -> WishAnswer:
    """Raises InvalidArgument."""
    value = parse_object(body)
    text, error = value.get("text", ""), value.get("error", "")
    if not isinstance(text, str) or not isinstance(error, str) or bool(text) == bool(error):
        given = {name: value[name] for name in ("text", "error") if name in value}
        rule = "either a text or an error"
        raise InvalidArgument.of((Violation("text", f"{describe(given)} given; allowed: {rule}"),))
    return WishAnswer(text, error[:MAX_ERROR_LENGTH])
