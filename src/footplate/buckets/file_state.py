"""Identifies one state of a file. It changes with every change of the file."""

from __future__ import annotations

import itertools
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from footplate import safe_path
from footplate.buckets.names import parse_object_name

_YEAR_9999_S = 253_402_300_799
_FILE = re.compile(r"f[0-9]+-([0-9]+)-(-?[0-9]+)")
_SECOND_NS = 1_000_000_000


def time_of(status: os.stat_result) -> datetime:
    """Returns a file's time of change, limited: a program may set a time outside the calendar."""
    seconds = status.st_mtime_ns // 1000 / 1e6
    return datetime.fromtimestamp(min(max(seconds, 0), _YEAR_9999_S), UTC)


@dataclass(frozen=True)
class FileState:
    """The state of a file.

    ``identity`` depends on the inode, the size and the time; all directories have the same one.
    """

    identity: str
    size_bytes: int
    changed: datetime

    @classmethod
    def of(cls, status: os.stat_result) -> FileState:
        changed = time_of(status)
        if stat.S_ISDIR(status.st_mode):
            # Size and time change with what is put into it, the inode with each copy of the bucket.
            return cls("d", 0, changed)
        identity = f"f{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"
        return cls(identity, status.st_size, changed)


def may_be_copies(identity: str, other: str) -> bool:
    """Returns whether two files have the same size, and times in the same second.

    ``cp -a``, ``rsync`` and ``tar`` preserve this much. A program can give any file such values, so
    only the content can prove that one is a copy of the other.
    """
    found = _FILE.fullmatch(identity), _FILE.fullmatch(other)
    kept = {(one[1], int(one[2]) // _SECOND_NS) for one in found if one is not None}
    return None not in found and len(kept) == 1


def look_at(folder: Path, names: Sequence[str]) -> Iterator[tuple[str, FileState]]:
    """Yields states of existing names: files, links to files or, with a slash, directories."""
    paths = [(name, parse_object_name(name)) for name in names]
    for parents, group in itertools.groupby(paths, key=lambda item: item[1].parents):
        try:
            with safe_path.directory(folder, parents) as parent:
                for name, path in group:
                    status = _status(folder, path.parts, parent)
                    wanted = stat.S_ISDIR if path.directory else stat.S_ISREG
                    if status is not None and wanted(status.st_mode):
                        yield name, FileState.of(status)
        except (FileNotFoundError, NotADirectoryError):
            continue


def _status(folder: Path, parts: tuple[str, ...], parent: int) -> os.stat_result | None:
    try:
        status = os.lstat(parts[-1], dir_fd=parent)
        if not stat.S_ISLNK(status.st_mode):
            return status
        descriptor = safe_path.open_file(folder, parts)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return os.fstat(descriptor)
    finally:
        os.close(descriptor)
