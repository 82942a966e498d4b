"""Combines changes of one job that come at the same time into one write."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

from footplate.control.job_locks import JobLocks
from footplate.control.job_updates import apply_all
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import Event
from footplate.domain.names import JobUid
from footplate.ports.store import Store


@dataclass(frozen=True, eq=False)
class _Update:
    steps: Sequence[Event | JobEvent]
    known: Job | None
    written: Future[Job] = field(default_factory=Future)


class CombinedUpdates:
    """Applies events to jobs, those of a job that come together in one write.

    The replicas of a gang report all at once, and a write costs as much for one of them as for all.
    While a thread writes a job, others that have events for it wait, and the next one writes them
    all. So a gang of any size starts in a few writes.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._job_locks = JobLocks()
        self._mutex = Lock()
        self._waiting: dict[JobUid, list[_Update]] = {}

    def apply(
        self, uid: JobUid, steps: Sequence[Event | JobEvent], known: Job | None = None
    ) -> Job:
        """Returns the job once the steps are stored. Raises what ``apply_all`` raises.

        ``known`` is the job as the caller has read it, which saves a read where it still is so.
        """
        update = _Update(steps, known)
        with self._mutex:
            self._waiting.setdefault(uid, []).append(update)
        with self._job_locks.of(uid):
            # Updates are taken and written under the job's lock. So this one is either written by
            # now, or still waits among those that are taken here.
            if not update.written.done():
                with self._mutex:
                    together = self._waiting.pop(uid)
                self._write(uid, together)
        return update.written.result()

    def _write(self, uid: JobUid, updates: Sequence[_Update]) -> None:
        steps = [step for each in updates for step in each.steps]
        known = updates[0].known if len(updates) == 1 else None
        try:
            job = apply_all(self._store, uid, steps, known).job
        except BaseException as error:  # of any kind: others wait, and can't be written any more
            if len(updates) > 1 and isinstance(error, Exception):
                for each in updates:  # one that can't be applied must not hold up the others
                    self._write(uid, (each,))
            else:
                for each in updates:
                    each.written.set_exception(error)
            return
        for each in updates:
            each.written.set_result(job)
