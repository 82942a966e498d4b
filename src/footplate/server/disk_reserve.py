"""Disk space reserved for the ends of jobs, so that a full disk does not stop them."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TypeVar

from footplate.domain.disk_state import DiskState
from footplate.domain.errors import Unavailable
from footplate.replica.disk_space import STEP_BYTES, give_step

T = TypeVar("T")

INTERVAL_S = 5.0
"""Between two looks at the disk. A thread that finds it full looks by itself."""
OPENING_BYTES = 3 << 20
"""The step for opening a database, which a program that fills the disk takes longer to use up."""
_log = logging.getLogger(__name__)


class DiskReserve:
    """A file without content that reserves disk space.

    This process, or supervisors of ended programs, release it in steps; it is refilled when there
    is space. Any process may use what is released, so the steps are small, and only for work that
    ends something.
    """

    def __init__(
        self,
        path: Path,
        size_bytes: int,
        inspect: Callable[[Path], os.statvfs_result] = os.statvfs,
        write: Callable[[int, int, int], None] | None = None,
    ) -> None:
        """Creates the reserve. ``write`` allocates space for a file: descriptor, offset and
        length in bytes.
        """
        self.path = path
        self._size_bytes = size_bytes
        self._look = inspect
        self._write = write or _allocate
        self._lock = Lock()
        self._told = ""
        self._failure = ""

    def state(self) -> DiskState:
        """Returns the disk's state. A disk that can't be read counts as not full."""
        try:
            found = self._look(self.path.parent)
        except OSError:  # as said above
            return DiskState(sys.maxsize)
        free_bytes = found.f_bavail * found.f_frsize
        return DiskState(free_bytes, self._kept_bytes(), self._size_bytes, self._failure)

    def check(self) -> None:
        """Raises Unavailable if the disk is full, since nothing new may start then."""
        state = self.state()
        if state.full:
            raise Unavailable(
                f"{state.trouble()} on the disk of {self.path.parent}: free some space there, "
                "and try again"
            )

    def retrying(self, call: Callable[[], T], step_bytes: int = STEP_BYTES) -> T:
        """Returns the result of ``call``.

        While it fails on a full disk, releases a step of the reserve and calls it again.
        """
        while True:
            try:
                return call()
            except (OSError, Unavailable):
                if not (self.state().full and self.release(step_bytes)):
                    raise

    def release(self, step_bytes: int = STEP_BYTES) -> bool:
        """Releases a step of the reserve; returns False if nothing is left."""
        return give_step(str(self.path), step_bytes)

    def maintain(self) -> float:
        """Refills the reserve if possible, logs its state, and returns the seconds to the next
        check.
        """
        with self._lock:
            if self.state().growable:
                self._grow()
            self._notify()
        return INTERVAL_S

    def _grow(self) -> None:
        """Allocates the whole reserve, including the holes of a file that was copied sparsely."""
        self._failure = ""
        try:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                length = os.fstat(descriptor).st_size
                begin = length if self._kept_bytes() == length else 0
                self._write(descriptor, begin, self._size_bytes - begin)
            finally:
                os.close(descriptor)
            if self.state().missing_bytes:
                self._failure = "the file system allocates no blocks for the reserve"
        except OSError as error:
            self._failure = error.strerror or str(error)

    def _kept_bytes(self) -> int:
        """Returns the allocated bytes; a sparse file's length says nothing."""
        try:
            found = self.path.stat()
        except OSError:  # it is made again
            return 0
        return min(found.st_size, found.st_blocks * 512)

    def _notify(self) -> None:
        """Logs the state when it changes."""
        state = self.state()
        trouble, turn = state.trouble(), "full" if state.full else str(state.missing_bytes > 0)
        if turn == self._told or (not trouble and not self._told):
            return
        if trouble:
            _log.warning("%s (%s)", trouble, self.path.parent)
        else:
            _log.warning("the disk of %s has enough free space again", self.path.parent)
        self._told = turn if trouble else ""


def _allocate(descriptor: int, offset: int, size_bytes: int) -> None:
    """Allocates space in the file. Raises OSError if there is none."""
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, offset, size_bytes)
    else:
        os.pwrite(descriptor, bytes(size_bytes), offset)
