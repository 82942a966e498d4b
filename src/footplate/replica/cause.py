"""Why a program failed, told by the last words on its stderr."""

from __future__ import annotations

_LIMIT = 1000
_HEADER = "Traceback (most recent call last):"
_GROUP = "+ Exception Group "


class CauseFinder:
    """Watches stderr and remembers two lines of at most 1000 characters.

    Tracebacks may stand behind a prefix that each of their lines has (``[rank0]: ``), and may
    be chained or of an exception group; the last one counts.
    """

    __slots__ = ("_exception", "_last", "_prefix")

    def __init__(self) -> None:
        self._exception = ""
        self._last = ""
        self._prefix: str | None = None
        """What stands before each line of the traceback that is being read; None: none is."""

    @property
    def exception(self) -> str:
        """The line that names the last uncaught exception (``ValueError: bad``), or empty."""
        return self._exception

    @property
    def cause(self) -> str:
        """The last exception, or else the last line that wasn't empty."""
        return self._exception or _without_interpreter(self._last)

    def see(self, line: str) -> None:
        if line.strip():
            self._last = line.strip()[:_LIMIT]
        place = line.find(_HEADER)
        if place >= 0:
            prefix = line[:place]
            self._prefix = "  | " if prefix.endswith(_GROUP) else prefix
        elif self._prefix is not None:
            self._read(line)

    def _read(self, line: str) -> None:
        prefix = self._prefix or ""
        body = line[len(prefix) :] if line.startswith(prefix) else line
        if body.strip() and not body[0].isspace():
            self._exception = body.strip()[:_LIMIT]
            self._prefix = None


def _without_interpreter(line: str) -> str:
    """``python -m MODULE`` begins what it says itself with the path of the interpreter."""
    path, colon, words = line.partition(": ")
    is_interpreter = path.startswith("/") and path.rpartition("/")[2].startswith("python")
    return words if colon and is_interpreter else line
