"""Removes directories with nothing in them but directories, without following links."""

from __future__ import annotations

import fcntl
import os

from footplate.safe_path import DIRECTORY

_MOST_LEVELS = 512
"""No name of an object has more; each level that is looked into costs a descriptor."""


def remove_empty_tree(name: str, parent: int) -> bool:
    """Removes a directory that contains nothing but directories; returns whether it did.

    It doesn't if there are other files, if a running program uses the directory or one below it
    (``footplate.replica`` locks these), or if there are more levels than an object's name can have.
    """
    child = os.open(name, DIRECTORY, dir_fd=parent)
    try:
        return (
            # A look at all of it first: a file or a lock must not leave half of the tree.
            _remove_below(child, dry=True)
            and _remove_below(child)
            and remove_directory(name, parent)
        )
    finally:
        os.close(child)


def _remove_below(current: int, levels: int = _MOST_LEVELS, *, dry: bool = False) -> bool:
    inner = _read_directories(current)
    if inner is None or (inner and not levels) or _is_locked(current):
        return False
    for name in inner:
        child = os.open(name, DIRECTORY, dir_fd=current)
        try:
            cleared = _remove_below(child, levels - 1, dry=dry)
            if not cleared or not (dry or remove_directory(name, current)):
                return False
        finally:
            os.close(child)
    return True


def _read_directories(current: int) -> list[str] | None:
    """Returns the names in a directory; None as soon as one of them is not a directory."""
    names = []
    with os.scandir(current) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                return None
            names.append(entry.name)
    return names


def _is_locked(current: int) -> bool:
    """Returns whether another process has locked a directory; else locks it until it is closed."""
    try:
        fcntl.flock(current, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # a file system without locks
    return False


def remove_directory(name: str, parent: int) -> bool:
    """Removes an empty directory; False: it isn't empty."""
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError:  # an empty one may stay
        return False
    return True
