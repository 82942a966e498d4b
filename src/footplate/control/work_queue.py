"""The queue of jobs that the next cycle processes."""

from __future__ import annotations

from threading import Lock

from footplate.control.deadlines import Deadlines
from footplate.domain.names import JobUid

SWEEP_S = 15.0
"""After so long all jobs are looked at, whatever was heard of them: any message may be lost.

Some changes send none at all: a deleted directory of a replica, a stop that the backend could not
execute, an attempt without a job.
"""
MOST_NOTED = 10_000
"""News that nobody has taken; after more of it all are looked at."""


class WorkQueue:
    """The jobs that changed, the jobs that are due, and periodically all jobs.

    Any thread may note changes; everything else is for the thread that makes the passes. Moments
    are seconds on a scale that doesn't jump; should it be set back after all, all jobs are
    processed.
    """

    def __init__(self, sweep_s: float = SWEEP_S) -> None:
        self._sweep_s = sweep_s
        self._lock = Lock()
        self._noted: dict[JobUid, int | None] = {}
        """The versions in which the jobs were written; None: something else happened."""
        self._all = True
        self._dues = Deadlines()
        self._sweep_at = 0.0
        self._taken_at = 0.0

    def note(self, uid: JobUid, version: int | None = None) -> None:
        """Notes that the job has changed, or may have; never blocks for long.

        ``version`` is the one in which it was written, if that is all that has happened.
        """
        with self._lock:
            before = self._noted.get(uid, version)
            if before is None or version is None:
                self._noted[uid] = None
            else:
                self._noted[uid] = max(before, version)
            if len(self._noted) > MOST_NOTED:
                self._note_all()

    def note_all(self) -> None:
        """Notes that any job may have changed; never blocks for long."""
        with self._lock:
            self._note_all()

    def _note_all(self) -> None:
        self._all = True
        self._noted.clear()

    def take(self, now: float) -> tuple[JobUid, ...] | None:
        """Takes the jobs to process now, in the order in which they were noted; None: all jobs.

        Later notes are for the next pass. If processing a job fails, the caller calls ``note_all``.
        """
        with self._lock:
            noted, self._noted = self._noted, {}
            everything, self._all = self._all, False
        due = self._dues.take_due(now)
        before, self._taken_at = self._taken_at, now
        if everything or now < before or now >= self._sweep_at:
            return None
        return (*noted, *(uid for uid in due if uid not in noted))

    def settle(self, uid: JobUid, version: int) -> None:
        """Withdraws the note that the job was written, if the pass has acted on this version."""
        with self._lock:
            noted = self._noted.get(uid)
            if noted is not None and noted <= version:
                del self._noted[uid]

    def sweep(self, now: float) -> None:
        """Forgets when jobs are due, as all of them are about to be processed."""
        self._dues = Deadlines()
        self._sweep_at = now + self._sweep_s

    def put(self, uid: JobUid, moment: float | None) -> None:
        """Records that a job was processed, and the next ``moment`` for it; None: no moment."""
        if moment is None:
            self._dues.drop(uid)
        else:
            self._dues.put(uid, moment)

    def drop(self, uid: JobUid) -> None:
        """Records that the job was processed and needs no further work."""
        self._dues.drop(uid)

    def next(self) -> float:
        """Returns the moment at which a pass is due even if nothing is noted."""
        due = self._dues.next()
        return self._sweep_at if due is None else min(due, self._sweep_at)
