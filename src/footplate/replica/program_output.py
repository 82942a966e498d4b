"""Reads a program's stdout and stderr."""

from __future__ import annotations

import os

from footplate.replica.line_splitter import LineSplitter

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

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
