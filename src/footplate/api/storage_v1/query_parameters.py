"""Reads the query parameters and headers of requests."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from starlette.requests import Request

from footplate.domain.errors import InvalidArgument, Violation
from footplate.ports.object_storage import Checksums, Conditions

MAX_RESULTS = 1000


def conditions_in(query: Mapping[str, str], word: str = "") -> Conditions:
    """Returns a request's conditions. ``word`` is ``Source`` for those on the copied object."""
    return Conditions(
        generation=number_in(query, f"if{word}GenerationMatch"),
        generation_not=number_in(query, f"if{word}GenerationNotMatch"),
        metageneration=number_in(query, f"if{word}MetagenerationMatch"),
        metageneration_not=number_in(query, f"if{word}MetagenerationNotMatch"),
    )


def number_in(query: Mapping[str, str], name: str) -> int | None:
    """Returns a parameter's number; None if it isn't given.

    Raises InvalidArgument for anything but a whole number of 64 bits.
    """
    text = query.get(name)
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    raise _wrong(name, text, "a whole number, 0 or more")


def flag_in(query: Mapping[str, str], name: str) -> bool:
    """Returns whether a parameter is true; also ``True``, which clients in Python send."""
    return query.get(name, "").lower() == "true"


def limit_in(query: Mapping[str, str]) -> int:
    limit = number_in(query, "maxResults")
    if limit == 0:
        raise _wrong("maxResults", "0", "1 or more")
    return min(limit or MAX_RESULTS, MAX_RESULTS)


def required_in(query: Mapping[str, str], name: str) -> str:
    if not query.get(name):
        raise _wrong(name, "nothing", "required")
    return query[name]


def hashes_in(request: Request) -> Checksums:
    """Returns the hashes in one or more ``X-Goog-Hash`` headers."""
    said: dict[str, str] = {}
    for header in request.headers.getlist("x-goog-hash"):
        for part in header.split(","):
            kind, _, text = part.strip().partition("=")
            said[kind] = text
    return decode_checksums(said.get("crc32c"), said.get("md5"))


def decode_checksums(crc32c: object, md5: object) -> Checksums:
    """Returns checksums decoded from base64; each may be None."""
    number = None if crc32c is None else int.from_bytes(_decode("crc32c", crc32c, 4), "big")
    return Checksums(number, None if md5 is None else _decode("md5Hash", md5, 16))


def _decode(field: str, text: object, length: int) -> bytes:
    try:
        value = base64.b64decode(str(text), validate=True)
    except ValueError:  # binascii.Error is one, and characters beyond ASCII raise another
        value = b""
    if len(value) != length:
        raise _wrong(field, str(text), f"{length} bytes as base64")
    return value


def _wrong(field: str, given: str, allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, f"{given[:100]!r} given; allowed: {allowed}"),))
