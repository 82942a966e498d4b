"""Reads the event files of programs, which grow meanwhile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.tracking.event_logs import FilePosition


@dataclass(frozen=True)
class LoggedScalar:
    """``folder`` is that of its file, below the directory; ``.`` is the directory itself.

    ``time`` is in seconds since 1970, as the program's clock said.
    """

    folder: str
    tag: str
    step: int
    value: float
    time: float


@dataclass(frozen=True)
class EventPiece:
    """``positions`` of all files by their paths; ``more``: there may be something left to read."""

    scalars: tuple[LoggedScalar, ...]
    positions: Mapping[str, FilePosition]
    more: bool


class EventFiles(Protocol):
    def read(
        self, directory: str, positions: Mapping[str, FilePosition], most_bytes: int
    ) -> EventPiece:
        """Reads about so much of what follows ``positions`` in the files below a directory.

        A directory or file that doesn't exist, or can't be read, has nothing.
        """
        ...
