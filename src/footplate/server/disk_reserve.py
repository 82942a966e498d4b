"""Disk space reserved for the ends of jobs, so that a full disk does not stop them."""

from __future__ import annotations

import logging
import os
import sys
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from footplate.domain.disk_state import DiskState
from footplate.domain.errors import Unavailable
from footplate.replica.disk_space import STEP_BYTES, give_step

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

INTERVAL_S = 5.0
"""Between two looks at the disk. A thread that finds it full looks by itself."""
OPENING_BYTES = 3 << 20
"""The step for opening a database, which a program that fills the disk takes longer to use up."""
_log = logging.getLogger(__name__)


class DiskReserve:
    """A file that holds nothing. It is given back a step at a time, by this process or by
    supervisors of ended programs, and made whole again when there is room.

    What is given back is anybody's: so it goes in steps, and only to what ends something.
    """

    def __init__(
        self,
        path: Path,
        size_bytes: int,
        inspect: Callable[[Path], os.statvfs_result] = os.statvfs,
        write: Callable[[int, int, int], None] | None = None,
    ) -> None:
        """``write`` takes room for a file: descriptor, offset and length in bytes."""
        self.path = path
        self._size_bytes = size_bytes
        self._look = inspect
        self._write = write or _allocate
        self._lock = Lock()
        self._told = ""
        self._failure = ""

    def state(self) -> DiskState:
        """Returns the state; a disk that can't be looked at isn't full: its writers learn more."""
        try:
            found = self._look(self.path.parent)
        except OSError:  # as said above
            return DiskState(sys.maxsize)
        free_bytes = found.f_bavail * found.f_frsize
        return DiskState(free_bytes, self._kept_bytes(), self._size_bytes, self._failure)

    def check(self) -> None:
        """Raises Unavailable: the disk is full, so nothing new starts."""
        state = self.state()
        if state.full:
            raise Unavailable(
                f"{state.trouble()} on the disk of {self.path.parent}: free some space there, "
                "and try again"
            )

    def retrying(self, call: Callable[[], T], step_bytes: int = STEP_BYTES) -> T:
        """Returns what ``call`` returns. While it fails on a full disk, it is called again with one
        step more of the reserve each time.
        """
        while True:
            try:
                return call()
            except (OSError, Unavailable):
                if not (self.state().full and self.release(step_bytes)):
                    raise

    def release(self, step_bytes: int = STEP_BYTES) -> bool:
        """Gives a step back; False: there is nothing left."""
        return give_step(str(self.path), step_bytes)

    def maintain(self) -> float:
        """Restores the reserve if there is space, and logs its state.

        Returns:
            In how many seconds it is to be looked at again.
        """
        with self._lock:
            if self.state().growable:
                self._grow()
            self._notify()
        return INTERVAL_S

    def _grow(self) -> None:
        """Allocates it, also the holes of a file that was copied without its blocks."""
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
        """Returns the allocated bytes: a file that only says to be so long keeps nothing."""
        try:
            found = self.path.stat()
        except OSError:  # it is made again
            return 0
        return min(found.st_size, found.st_blocks * 512)

    def _notify(self) -> None:
        """Notifies once for each turn that it takes."""
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
    """Raises OSError: there is no room."""
    if sys.platform == "linux":
        os.posix_fallocate(descriptor, offset, size_bytes)
    else:
        os.pwrite(descriptor, bytes(size_bytes), offset)
