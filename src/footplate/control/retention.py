"""Deletes old jobs and old logs by itself, as the settings ``keep_jobs`` and ``keep_logs`` say."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from footplate.control.job_deletion import JobDeletion
from footplate.control.job_lists import JobLists, Place
from footplate.domain.errors import Aborted, FailedPrecondition, NotFound
from footplate.domain.filters import And, Comparator, Comparison, Field, Filter
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.retention import KeepTimes
from footplate.ports.clock import Clock
from footplate.ports.logs import Logs
from footplate.ports.store import Store

INTERVAL_S = 3600.0
"""Between two passes: ages are days and weeks."""
_INTERVAL = timedelta(seconds=INTERVAL_S)
LOGS_DELETED = "LOGS_DELETED"
_PAGE = 100
"""Jobs of one step, so that a server that ends does not wait for a long pass."""

_log = logging.getLogger(__name__)


class Retention:
    """Deletes jobs, and logs of jobs, whose retention time is over.

    A pass goes through all projects, a page of jobs in each step, then waits for an hour.
    """

    def __init__(
        self,
        store: Store,
        lists: JobLists,
        logs: Logs,
        deletion: JobDeletion,
        keep_jobs: KeepTimes,
        keep_logs: KeepTimes,
        clock: Clock,
    ) -> None:
        self._store = store
        self._lists = lists
        self._logs = logs
        self._deletion = deletion
        self._keep_jobs = keep_jobs
        self._keep_logs = keep_logs
        self._clock = clock
        self._pages: Iterator[None] | None = None
        self._next: datetime | None = None
        self._logs_deleted: dict[str, datetime] = {}
        """The end up to which the logs of all jobs are deleted already, by project."""

    def step(self) -> float:
        """Takes a step; returns the seconds until the next one is due."""
        now = self._clock.now()
        if self._pages is None:
            waits_s = 0.0 if self._next is None else (self._next - now).total_seconds()
            # A clock that is set back by days must not stop passes for as long.
            if 0 < waits_s <= INTERVAL_S:
                return waits_s
            self._pages = self._pass(now)
        try:
            next(self._pages)
        except StopIteration:
            self._pages = None
            self._next = now + _INTERVAL
            return INTERVAL_S
        except Exception:
            # A generator that raised has ended. The next step would take that for the end of the
            # pass.
            self._pages = None
            raise
        return 0.0

    def _pass(self, now: datetime) -> Iterator[None]:
        for project in sorted({name.split("/")[1] for name in self._lists.collections()}):
            keep = self._keep_jobs.of(project)
            if keep is not None:
                before = now - keep
                yield from self._each(project, before, None, self._delete)
            keep = self._keep_logs.of(project)
            if keep is not None:
                before, done = now - keep, self._logs_deleted.get(project)
                yield from self._each(project, before, done, self._delete_logs)
                self._logs_deleted[project] = before

    def _each(
        self,
        project: str,
        before: datetime,
        since: datetime | None,
        act: Callable[[Job], bool],
    ) -> Iterator[None]:
        """Calls ``act`` for the jobs that ended from ``since`` to ``before``, page by page."""
        where: Filter = Comparison(Field.END_TIME, Comparator.LESS, before)
        if since is not None:
            where = And((where, Comparison(Field.END_TIME, Comparator.GREATER_OR_EQUAL, since)))
        after: str | None = None
        while True:
            page = self._lists.list(Place(project), where=where, limit=_PAGE, after=after)
            done = sum(map(act, page.jobs))
            if done:
                what = "jobs" if act == self._delete else "logs"
                _log.info("deleted %d old %s of project %s", done, what, project)
            yield
            after = page.next_key
            if after is None:
                return

    def _delete(self, job: Job) -> bool:
        """Deletes the job; returns False, to retry later, if its pipeline hasn't ended."""
        try:
            self._deletion.delete(job.name, backing=True)
        except (NotFound, FailedPrecondition, Aborted):
            return False
        return True

    def _delete_logs(self, job: Job) -> bool:
        """Deletes the job's log; the event about that becomes the first line of a new one."""
        if not self._logs.size(job.uid) or self._is_told(job):
            return False
        self._deletion.delete_logs(job)
        text = (
            "the server has deleted the log and the usage of this job, because the setting "
            "keep_logs says so"
        )
        try:
            self._store.append(job.uid, (JobEvent(self._clock.now(), LOGS_DELETED, text),))
        except NotFound:  # the job was deleted meanwhile
            return False
        return True

    def _is_told(self, job: Job) -> bool:
        """Returns whether an event says that the log was deleted, by any server."""
        after = 0
        while stored := self._store.events(job.uid, after):
            if any(each.event.kind == LOGS_DELETED for each in stored):
                return True
            after = stored[-1].number
        return False
