"""Locks on the directories of a program, held while its supervisor lives.

Buckets remove directories in which no object is left (``footplate.buckets.empty_directories``); not those
into which a running program is about to write.
"""

from __future__ import annotations

import fcntl
import os
import time

_ATTEMPTS = 20
_RETRY_S = 0.005


class DirectoryLocks:
    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[int] = []

    def make(self, path: str) -> None:
        """Create the directory if needed, and take a shared lock on it.

        Who can't get the lock goes on without it: programs can lock their directories, too.

        Raises:
            OSError: it can't be made.
            TypeError: it is no path.
            ValueError: it is no path.
        """
        for _ in range(_ATTEMPTS):
            os.makedirs(path, exist_ok=True)
            if self._share(path):
                return
            time.sleep(_RETRY_S)

    def release(self) -> None:
        while self._held:
            os.close(self._held.pop())

    def _share(self, path: str) -> bool:
        """False: the directory is being removed, or was removed meanwhile."""
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except PermissionError:
            return True  # a program may write into it and not read it: nobody can remove it
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            found = os.path.samestat(os.fstat(descriptor), os.stat(path))
        except (BlockingIOError, FileNotFoundError):
            found = False
        except OSError:
            found = True  # a file system without locks
        if found:
            self._held.append(descriptor)
        else:
            os.close(descriptor)
        return found
