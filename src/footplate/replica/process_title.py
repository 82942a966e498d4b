"""Changes this process's command line in place, as other processes see it."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

_COMMAND_LINE = "/proc/self/cmdline"
_STAT = "/proc/self/stat"
_ARG_START = 45
_ARG_END = 46
"""Fields of ``stat`` behind the name of the process (proc(5) counts from 1, and has 3 before)."""


class ProcessTitle:
    """``start`` and ``size`` are where the kernel reads it; ``prefix`` are the words that stay."""

    def __init__(self, start: int, size: int, prefix: bytes) -> None:
        self._start = start
        self._size = size
        self._prefix = prefix

    @classmethod
    def find(cls, command: str) -> ProcessTitle:
        """All words from ``command`` on can be changed.

        Raises:
            OSError: this system doesn't tell where they are.
            ValueError: it isn't among them.
        """
        with open(_STAT, "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        with open(_COMMAND_LINE, "rb") as file:
            words = file.read()
        start, size = int(fields[_ARG_START]), len(words)
        if not start or start + size != int(fields[_ARG_END]):
            raise OSError("the address of the command line is unknown")
        return cls(start, size, words[: words.index(b"\0" + os.fsencode(command) + b"\0") + 1])

    def check(self, words: Sequence[str]) -> None:
        """Raises:
        ValueError: there is no room for them.
        """
        if len(self._spell(words)) > self._size:
            raise ValueError(f"there is no room for {words[-1]} on the command line")

    def change(self, words: Sequence[str]) -> None:
        """What is left of the room is filled with empty words."""
        import ctypes

        ctypes.memmove(self._start, self._spell(words).ljust(self._size, b"\0"), self._size)

    def _spell(self, words: Sequence[str]) -> bytes:
        return self._prefix + b"".join(os.fsencode(word) + b"\0" for word in words)
