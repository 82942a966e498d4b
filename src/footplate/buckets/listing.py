"""Lists object names in GCS order, reading no more directories than needed.

GCS orders names by their UTF-8 bytes; so does Python, by code points. A directory's objects
come where its name with a slash comes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from pathlib import Path

from footplate import safe_path
from footplate.buckets.names import can_be_named, parse_object_name
from footplate.domain.errors import InvalidArgument


@dataclass(frozen=True)
class Window:
    """The names that begin with ``prefix``, from ``start`` to before ``end``; empty: no bound."""

    prefix: str = ""
    start: str = ""
    end: str = ""

    def holds(self, name: str) -> bool:
        return (
            name.startswith(self.prefix)
            and name >= self.start
            and (not self.end or name < self.end)
        )

    def meets(self, directory: str) -> bool:
        """Returns whether a name that begins with ``directory`` may be in the window."""
        return (
            (directory.startswith(self.prefix) or self.prefix.startswith(directory))
            and (directory >= self.start or self.start.startswith(directory))
            and (not self.end or directory < self.end)
        )


@dataclass(frozen=True)
class NameListing:
    """Lists the names in a bucket's folder.

    ``placeholders`` are the directories that are objects themselves, each with its slash.
    ``is_staged`` returns whether a name is that of a temporary file.
    """

    folder: Path
    window: Window
    placeholders: Container[str]
    is_staged: Callable[[str], bool] | None = None

    def entries(self, delimiter: str) -> Iterator[tuple[str, bool]]:
        """Yields objects and common prefixes (True), up to a delimiter after the prefix."""
        if delimiter == "/":
            yield from self._from_top(collapse=True)
            return
        collapsed, begin = "", len(self.window.prefix)
        for name, _ in self._from_top(collapse=False):
            end = name.find(delimiter, begin) if delimiter else -1
            if end < 0:
                yield name, False
            elif collapsed != (collapsed := name[: end + len(delimiter)]):
                yield collapsed, True

    def _from_top(self, *, collapse: bool) -> Iterator[tuple[str, bool]]:
        top = self.window.prefix[: self.window.prefix.rfind("/") + 1]
        if top:
            try:
                parse_object_name(top)
            except InvalidArgument:
                return  # no object can be there
            if self._is_object(top):
                yield top, False
        yield from self._below(top, collapse=collapse)

    def _below(self, directory: str, *, collapse: bool) -> Iterator[tuple[str, bool]]:
        """Yields names without recursion: a program may create very many levels."""
        levels = [iter(self._read(directory))]
        while levels:
            name = next(levels[-1], None)
            if name is None:
                levels.pop()
            elif not name.endswith("/"):
                if self.window.holds(name):
                    yield name, False
            elif not self.window.meets(name):
                continue
            elif collapse and name.startswith(self.window.prefix):
                if self._has_objects(name):
                    yield name, True
            else:
                if self._is_object(name):
                    yield name, False
                levels.append(iter(self._read(name)))

    def _has_objects(self, directory: str) -> bool:
        return self._is_object(directory) or any(
            True for _ in self._below(directory, collapse=False)
        )

    def _is_object(self, directory: str) -> bool:
        return directory in self.placeholders and self.window.holds(directory)

    def _read(self, directory: str) -> list[str]:
        """Returns the full names in a directory, sorted; directories end in a slash."""
        parts = directory.removesuffix("/").split("/") if directory else []
        try:
            with safe_path.directory(self.folder, parts) as fd, os.scandir(fd) as entries:
                names = [f"{directory}{entry.name}{_suffix(entry)}" for entry in entries]
        except (FileNotFoundError, NotADirectoryError):
            return []
        found = sorted(filter(can_be_named, names))
        if self.is_staged is None:
            return found
        return [name for name in found if not self.is_staged(name)]


def _suffix(entry: os.DirEntry[str]) -> str:
    return "/" if entry.is_dir(follow_symlinks=False) else ""
