"""Locks that serialise the changes of one job."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.domain.names import JobUid

_LOCKS = 64


class JobLocks:
    """Lets those who are about to change the same job in this process go one after the other.

    Nothing depends on it for being right: writes are guarded by the record's version, and who comes
    too late decides again. But the replicas of a gang report all at once, and without turns each
    write would make all the others' decisions void: as many tries as the square of their number.
    Different jobs may have to wait for each other; there are always the same few locks.
    """

    def __init__(self) -> None:
        self._locks = tuple(Lock() for _ in range(_LOCKS))

    def of(self, uid: JobUid) -> Lock:
        """Holds it from load to write, and never while waiting for another party."""
        return self._locks[hash(uid) % _LOCKS]
