"""A lock on a file that one process at a time may append to."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIMEOUT_S = 2.0
_POLL_INTERVAL_S = 0.01


@contextmanager
def file_lock(descriptor: int, *, wait: bool = True) -> Iterator[None]:
    """Holds an exclusive lock among processes; a process's own threads must take turns.

    Processes hold it only for microseconds unless they were stopped, so a wait is short.

    Raises:
        Unavailable: another process holds the lock.
    """
    end = time.monotonic() + TIMEOUT_S if wait else 0.0
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() >= end:
                message = (
                    "another process has locked the file for too long; check whether that process "
                    "is stopped"
                )
                raise Unavailable(message) from None
            time.sleep(_POLL_INTERVAL_S)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


class FileLock:
    """A lock that one thread of one process holds at a time; creates ``path`` if needed."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._lock = threading.Lock()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the lock. Raises Unavailable if another process holds it for too long."""
        with self._lock, file_lock(self._descriptor):
            yield

    def close(self) -> None:
        os.close(self._descriptor)
