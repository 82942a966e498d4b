"""Locks that serialise the changes of one job."""

from __future__ import annotations

from threading import Lock

from footplate.domain.names import JobUid

_LOCKS = 64


class JobLocks:
    """Locks that let only one thread of this process change a job at a time.

    Correctness doesn't depend on them: writes are guarded by the record's version, and a writer
    that comes too late decides again. But the replicas of a gang report all at once. Without locks
    each write would invalidate the decisions of all others, and the number of tries would grow with
    the square of theirs. Different jobs may have to wait for each other, as there is a small fixed
    number of locks.
    """

    def __init__(self) -> None:
        self._locks = tuple(Lock() for _ in range(_LOCKS))

    def of(self, uid: JobUid) -> Lock:
        """Returns the job's lock; hold it from load to write, never while waiting for others."""
        return self._locks[hash(uid) % _LOCKS]
