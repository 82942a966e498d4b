"""Parses protocol buffers without their descriptions."""

from __future__ import annotations

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator, Union

    Value = Union[int, bytes]
    """A varint; or bytes: of a text, a message, a packed list, or a number of fixed width."""

_VARINT, _LENGTH = 0, 2
_WIDTHS = {1: 8, 5: 4}
_LONGEST_VARINT = 10


class Malformed(Exception):
    """Error of bytes that hold no message, or another message than expected."""


def read_fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yields number and value of each field, in their order. Raises Malformed."""
    place, end = 0, len(data)
    while place < end:
        key, place = read_varint(data, place)
        kind = key & 7
        if kind == _VARINT:
            number, place = read_varint(data, place)
            yield key >> 3, number
            continue
        width = _WIDTHS.get(kind, 0)
        if kind == _LENGTH:
            width, place = read_varint(data, place)
        elif not width:
            raise Malformed
        if width > end - place:
            raise Malformed
        yield key >> 3, data[place : place + width]
        place += width


def read_varint(data: bytes, place: int) -> tuple[int, int]:
    """Returns the number from 0 to 2^64 - 1 that begins at ``place``, and the place of its end.
    Raises Malformed.
    """
    number = shift = 0
    for byte in data[place : place + _LONGEST_VARINT]:
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number & 0xFFFFFFFFFFFFFFFF, place + shift // 7
    raise Malformed


def as_bytes(value: Value) -> bytes:
    """Returns a value as bytes. Raises Malformed if it is a varint."""
    if isinstance(value, bytes):
        return value
    raise Malformed


def as_signed(value: Value) -> int:
    """Returns a varint as an int64. Raises Malformed if the value isn't a varint."""
    if isinstance(value, bytes):
        raise Malformed
    return value - (1 << 64) if value >> 63 else value
