"""A cache of jobs, for databases that no other server writes."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobName, JobUid

MOST_JOBS = 1000
"""The longest unread are forgotten; they are read from the database again."""


@dataclass(frozen=True)
class Remembered:
    """A job as it was committed last, and the number of its last event, if that is known."""

    job: Job
    last: int | None


class JobCache:
    """The newest record of each job that was written of late. Any thread may call it.

    Only who may write puts something in, after the commit, before anybody else may write; and
    forgets it before the commit. So whatever is found is what the database holds, and
    a caller that finds nothing asks the database.
    """

    def __init__(self, most: int = MOST_JOBS) -> None:
        self._most = most
        self._lock = Lock()
        self._jobs: OrderedDict[JobUid, Remembered] = OrderedDict()
        self._uids: dict[JobName, JobUid] = {}

    def get(self, uid: JobUid) -> Remembered | None:
        with self._lock:
            found = self._jobs.get(uid)
            if found is not None:
                self._jobs.move_to_end(uid)
            return found

    def find(self, name: JobName) -> Remembered | None:
        uid = self._uids.get(name)
        return None if uid is None else self.get(uid)

    def put(self, job: Job, last: int | None) -> None:
        with self._lock:
            self._drop(job.uid)
            self._jobs[job.uid] = Remembered(job, last)
            self._uids[job.name] = job.uid
            while len(self._jobs) > self._most:
                self._drop(next(iter(self._jobs)))

    def forget(self, *uids: JobUid) -> None:
        with self._lock:
            for uid in uids:
                self._drop(uid)

    def _drop(self, uid: JobUid) -> None:
        known = self._jobs.pop(uid, None)
        if known is not None:
            del self._uids[known.job.name]
