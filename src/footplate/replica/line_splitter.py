"""Splits the bytes of a pipe into lines."""

from __future__ import annotations

LINE_LIMIT_BYTES = 65536
"""Longer lines come in pieces of at most this size, none of which splits a character."""


class LineSplitter:
    """Buffers at most one unfinished line of ``limit`` bytes."""

    __slots__ = ("_limit", "_rest")

    def __init__(self, limit: int = LINE_LIMIT_BYTES) -> None:
        self._limit = limit
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[str]:
        """The lines that ``data`` completes, without their ends (``\\n`` or ``\\r\\n``)."""
        first, *others = data.split(b"\n")
        self._rest += first
        lines: list[str] = []
        for other in others:
            lines += self._cut()
            if self._rest.endswith(b"\r"):
                del self._rest[-1]
            lines.append(self._rest.decode("utf-8", "replace"))
            self._rest = bytearray(other)
        lines += self._cut()
        return lines

    def finish(self) -> list[str]:
        """The last line, if the stream ended without an end of line."""
        lines = [self._rest.decode("utf-8", "replace")] if self._rest else []
        self._rest = bytearray()
        return lines

    def _cut(self) -> list[str]:
        """Take pieces off the unfinished line until it is within the limit."""
        pieces = []
        start = 0
        while len(self._rest) - start > self._limit:
            end = _character_start(self._rest, start + self._limit, start)
            pieces.append(self._rest[start:end].decode("utf-8", "replace"))
            start = end
        if start:
            del self._rest[:start]
        return pieces


def _character_start(data: bytearray, place: int, floor: int) -> int:
    """``place``, or where the UTF-8 character begins that it would split."""
    for start in range(place, max(floor, place - 4), -1):
        if data[start] & 0xC0 != 0x80:
            return start
    return place
