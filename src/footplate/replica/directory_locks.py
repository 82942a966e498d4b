"""Locks on the directories of a program, held while its supervisor lives.

Buckets remove directories in which no object is left (``footplate.buckets.empty_directories``);
not those into which a running program is about to write.
"""

from __future__ import annotations

import fcntl
import os
import time

from footplate.safe_path import DIRECTORY, PLACE, ROOT, directory, open_directory, split

_ATTEMPTS = 20
_RETRY_S = 0.005


class DirectoryLocks:
    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[int] = []

    def make(self, path: str) -> None:
        """Creates the directory if needed, and takes a shared lock on it. ``path`` is a real one.

        Who can't get the lock goes on without it: programs can lock their directories, too.

        Raises:
            OSError: it can't be made: something in its path is a link, say.
            ValueError: it is no path.
        """
        for _ in range(_ATTEMPTS):
            os.close(_open(path, PLACE, create=True))
            if self._share(path):
                return
            time.sleep(_RETRY_S)

    def release(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def _share(self, path: str) -> bool:
        """Takes the shared lock; returns False if the directory is being removed, or was removed
        meanwhile.
        """
        try:
            descriptor = _open(path)
        except PermissionError:
            return True  # a program may write into it and not read it: nobody can remove it
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            found = _is_at(path, os.fstat(descriptor))
        except (BlockingIOError, FileNotFoundError):
            found = False
        except OSError:
            found = True  # a file system without locks
        if found:
            self._held.append(descriptor)
        else:
            os.close(descriptor)
        return found


def _open(path: str, flags: int = DIRECTORY, *, create: bool = False) -> int:
    return open_directory(ROOT, split(path), create=create, flags=flags)


def _is_at(path: str, status: os.stat_result) -> bool:
    with directory(ROOT, split(path), flags=PLACE) as found:
        return os.path.samestat(status, os.fstat(found))
