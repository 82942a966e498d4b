"""Finds directories with event files."""

from __future__ import annotations

import os
import stat

from footplate.safe_path import scan

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator, Sequence

_MARK = "tfevents"
_ENTRIES_PER_STEP = 200
"""After so many entries a walk pauses."""
LONGEST_SOURCE = 1024
"""The limit in characters; of longer ones the end is reported."""
_TAKEN = "hypertune"


class Found:
    """A file of events. ``source`` is its folder relative to the place searched, ``.`` for the
    place itself.
    """

    __slots__ = ("path", "source", "status")

    def __init__(self, path: str, source: str, status: os.stat_result) -> None:
        self.path = path
        self.source = source
        self.status = status


class DirectoryScan:
    """A walk through a directory, from the top down. No link is followed, wherever it is in a path.

    After ``most`` files and directories the walk ends, and has been ``cut``.
    """

    def __init__(self, place: str, most: int) -> None:
        self.place = place
        self.cut = False
        self._left = most

    def __iter__(self) -> Iterator[Found | None]:
        """Yields the event files, and now and then None."""
        folders = [(self.place, "")]
        for path, below in folders:  # which grows meanwhile
            yield None
            for entry in _scan(path):
                if not self._left:
                    self.cut = True
                    return
                self._left -= 1
                if self._left % _ENTRIES_PER_STEP == 0:
                    yield None
                if _is_folder(entry):
                    inner = f"{below}/{entry.name}" if below else entry.name
                    folders.append((os.path.join(path, entry.name), inner))
                elif _MARK in entry.name:
                    yield _find(os.path.join(path, entry.name), entry, below)


def outermost(paths: Sequence[str]) -> list[str]:
    """Returns the paths in order, without those that lie below others; all are real paths."""
    whole = list(dict.fromkeys(os.path.normpath(path) for path in paths))
    return [path for path in whole if not any(_is_below(path, other) for other in whole)]


def _is_below(path: str, other: str) -> bool:
    return path != other and path.startswith(other.rstrip("/") + "/")


def _scan(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        yield from scan(folder)
    except OSError:  # it is looked at again
        return


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:  # it is looked at again
        return False


def _find(path: str, entry: os.DirEntry[str], below: str) -> Found | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # it is looked at again
        return None
    return Found(path, name_source(below), status) if stat.S_ISREG(status.st_mode) else None


def name_source(below: str) -> str:
    """Returns a name for the folder in records: it is text, and differs from the name of
    hypertune's file.
    """
    text = os.fsencode(below).decode("utf-8", "replace")[-LONGEST_SOURCE:]
    return f"./{text}" if text == _TAKEN else text or "."
