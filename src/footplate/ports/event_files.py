"""Reads the event files of programs, which grow meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from footplate.domain.tracking.log_uploads import FilePosition


@dataclass(frozen=True)
class LoggedScalar:
    """A scalar in an event file.

    ``folder`` is that of its file, below the directory; ``.`` is the directory itself. ``time`` is
    in seconds since 1970, by the program's clock.
    """

    folder: str
    tag: str
    step: int
    value: float
    time: float


@dataclass(frozen=True)
class EventPiece:
    """A piece of event files; ``positions`` are of all files, by path.

    ``more``: there may be something left to read.
    """

    scalars: tuple[LoggedScalar, ...]
    positions: Mapping[str, FilePosition]
    more: bool


class EventFiles(Protocol):
    def read(
        self, directory: str, positions: Mapping[str, FilePosition], most_bytes: int
    ) -> EventPiece:
        """Reads about ``most_bytes`` after ``positions`` in the event files below a directory.

        Directories and files that don't exist, or can't be read, count as empty.
        """
        ...
