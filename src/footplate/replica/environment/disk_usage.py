"""Measures disk usage."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Set, Tuple

    Seen = Set[Tuple[int, int]]

_BLOCK_BYTES = 512


def measure(path: str, seen: Seen | None = None) -> int:
    """Returns the bytes on disk below ``path``; files that several names lead to count once.

    ``seen``: files that were counted before, and don't count again; those counted now are added.
    """
    known: Seen = set() if seen is None else seen
    total, folders = 0, [path]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    total += _measure(entry, known)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:  # it goes away while it is counted
            continue
    return total


def _measure(entry: os.DirEntry[str], known: Seen) -> int:
    try:
        state = entry.stat(follow_symlinks=False)
    except OSError:  # it goes away while it is counted
        return 0
    if state.st_nlink > 1 and not entry.is_dir(follow_symlinks=False):
        identity = (state.st_dev, state.st_ino)
        if identity in known:
            return 0
        known.add(identity)
    return state.st_blocks * _BLOCK_BYTES
