"""Removes directories from the cache: a rename first, then the files."""

from __future__ import annotations

import os
import shutil
import stat

from footplate.replica.cache_locks import MARKER

_TRASH = ".trash"


def discard(path: str) -> None:
    """Removes a directory; whatever happens meanwhile, no half of it is left under its name.

    Raises:
        OSError: not even its marker can be removed.
    """
    remove(set_aside(path))


def set_aside(path: str) -> str:
    """Moves it away, so that it counts no more; returns where it lies now, for ``remove``.

    What nobody comes to remove is left for ``empty_trash``, or for who builds it next.

    Raises:
        OSError: not even its marker can be removed.
    """
    if not os.path.lexists(path):
        return path
    root, name = os.path.split(path)
    trash = os.path.join(root, _TRASH)
    moved = os.path.join(trash, f"{name}-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        os.makedirs(trash, mode=0o700, exist_ok=True)
        os.rename(path, moved)
    except OSError:  # the disk is too full even for that: without its marker it is nothing, too
        _unmark(path)
        remove(path)
        return path
    return moved


def empty_trash(root: str) -> None:
    """Removes the directories that other processes set aside but didn't remove; several processes
    may do so at once.
    """
    trash = os.path.join(root, _TRASH)
    try:
        names = os.listdir(trash)
    except OSError:  # the next one does it
        return
    for name in names:
        remove(os.path.join(trash, name))


def _unmark(path: str) -> None:
    try:
        os.unlink(os.path.join(path, MARKER))
    except FileNotFoundError:
        return


def remove(path: str) -> None:
    """Removes a directory as far as possible.

    Packages may hold directories that not even their owner may write to.
    """
    try:
        shutil.rmtree(path, ignore_errors=True)
        if os.path.lexists(path):
            _open_up(path)
            shutil.rmtree(path, ignore_errors=True)
    except RecursionError:
        return


def _open_up(path: str) -> None:
    for folder, folders, _ in os.walk(path, onerror=None):
        for name in folders:
            _permit(os.path.join(folder, name))
    _permit(path)


def _permit(folder: str) -> None:
    try:
        if stat.S_ISDIR(os.lstat(folder).st_mode):
            os.chmod(folder, stat.S_IRWXU)
    except OSError:  # its removal reports it
        return
