"""Changes the command line of this process, as ``ps`` shows it."""

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
    """The title of a process: the memory from ``start``, ``size`` bytes long, in which the kernel
    looks up its command line. ``prefix`` are the words that stay.
    """

    def __init__(self, start: int, size: int, prefix: bytes) -> None:
        self._start = start
        self._size = size
        self._prefix = prefix

    @classmethod
    def find(cls, command: str = "") -> ProcessTitle:
        """Finds the memory of this process's command line, whose words from ``command`` on can be
        changed; all of them, if it is empty.

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
            raise OSError("the process doesn't find its command line in memory")
        kept = words.index(b"\0" + os.fsencode(command) + b"\0") + 1 if command else 0
        return cls(start, size, words[:kept])

    def check(self, words: Sequence[str], room_bytes: int = 0) -> None:
        """Checks that there is space for the words, and for ``room_bytes`` more. Raises ValueError
        if there isn't.
        """
        if len(self._spell(words)) + room_bytes > self._size:
            raise ValueError(f"the process's command line has no space for {words[-1]}")

    def change(self, words: Sequence[str]) -> None:
        """Writes the title, and fills the rest of the space with empty words."""
        import ctypes

        ctypes.memmove(self._start, self._spell(words).ljust(self._size, b"\0"), self._size)

    def _spell(self, words: Sequence[str]) -> bytes:
        return self._prefix + b"".join(os.fsencode(word) + b"\0" for word in words)
