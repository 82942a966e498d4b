"""Reads a program's stdout and stderr, and splits them into lines."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from typing import Callable


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


_AT_ONCE_BYTES = 16384


class Stream:
    """The reading end of one pipe; ``take`` gets the lines as they become whole."""

    def __init__(self, take: Callable[[list[str]], None]) -> None:
        self.read_bytes = 0
        self._take = take
        self._splitter = LineSplitter()
        self._reading, writing = os.pipe()
        self._writing = writing
        os.set_blocking(self._reading, False)

    @property
    def writing(self) -> int:
        """The end for the program; ``hand_over`` closes ours once the program has it."""
        return self._writing

    @property
    def open(self) -> bool:
        return self._reading >= 0

    def hand_over(self) -> None:
        os.close(self._writing)

    def fileno(self) -> int:
        return self._reading

    def read(self) -> bool:
        """Read a little, at the end of the stream close it; False: nothing is there yet."""
        try:
            data = os.read(self._reading, _AT_ONCE_BYTES)
        except BlockingIOError:
            return False
        self.read_bytes += len(data)
        if data:
            self._take(self._splitter.feed(data))
        else:
            self.close()
        return True

    def close(self) -> None:
        """Give what is left of the last line, and read no more."""
        if self.open:
            os.close(self._reading)
            self._reading = -1
            self._take(self._splitter.finish())
