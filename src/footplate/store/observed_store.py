"""A wrapper of the store that notifies listeners of writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from footplate.domain.daily_hours import RunningTimes
from footplate.domain.filters import Filter
from footplate.domain.job_order import JobOrder
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobName, JobUid, StudyUid
from footplate.ports.store import ACTIVE, Page, Store, StoredEvent
from footplate.ports.studies import StudyStore
from footplate.store.studies.observed_studies import ObservedStudies


class CombinedStore(Store, Protocol):
    """A store of jobs, with the store of their studies."""

    @property
    def studies(self) -> StudyStore: ...


class ObservedStore:
    """Wraps ``inner`` and notifies listeners after each write.

    ``changed`` is called with a job's uid and the job as it was written, ``appended`` with the uid
    of a job that only has new events, ``studied`` with a study that was written, reported to or
    removed. Failed writes are notified as well: they may have taken effect nevertheless.
    ``changed`` gets None then in place of the job, and of a job that was deleted.
    """

    def __init__(
        self,
        inner: CombinedStore,
        changed: Callable[[JobUid, Job | None], None],
        appended: Callable[[JobUid], None],
        studied: Callable[[StudyUid], None] = lambda _: None,
        retrying: Callable[[Callable[[], None]], None] = lambda write: write(),
        logged: Callable[[JobUid, Sequence[JobEvent], Job | None], None] = lambda *_: None,
        noted: Callable[[Job, Sequence[JobEvent]], None] = lambda *_: None,
    ) -> None:
        """Stores the listeners; ``retrying`` repeats a write after it has found disk space.

        ``logged`` gets the events that were written, and the job if that was written, too, before
        followers are woken. ``noted`` gets the job with its events, if the job was written.
        """
        self._logged = logged
        self._noted = noted
        self._inner = inner
        self._changed = changed
        self._appended = appended
        self._studied = studied
        self._retrying = retrying
        self.studies = ObservedStudies(inner.studies, studied)

    def create(self, job: Job, events: Sequence[JobEvent]) -> None:
        written = None
        try:
            # Not `retrying`: the disk reserve is for what ends jobs, and new ones are refused on a
            # full disk.
            self._inner.create(job, events)
            written = job
            self._logged(job.uid, events, job)
            self._noted(job, events)
        finally:
            self._changed(job.uid, written)

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        written = None
        try:
            self._retrying(lambda: self._inner.update(job, events))
            written = job
            self._logged(job.uid, events, job)
            self._noted(job, events)
        finally:
            self._changed(job.uid, written)

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        try:
            self._retrying(lambda: self._inner.append(uid, events))
            self._logged(uid, events, None)
        finally:
            self._appended(uid)

    def delete(self, name: JobName, version: int) -> None:
        uid = self._inner.get(name).uid
        # Read before: the store deletes the runs with their tuning job.
        removed = [uid, *(run.uid for run in self._inner.runs(uid))]
        try:
            self._inner.delete(name, version)
        finally:
            for each in removed:
                self._changed(each, None)
            self._studied(StudyUid(uid))

    def get(self, name: JobName) -> Job:
        return self._inner.get(name)

    def get_by_uid(self, uid: JobUid) -> Job:
        return self._inner.get_by_uid(uid)

    def list(self, collection: str, *, where: Filter | None, limit: int, after: str | None) -> Page:
        return self._inner.list(collection, where=where, limit=limit, after=after)

    def collections(self) -> tuple[str, ...]:
        return self._inner.collections()

    def list_several(
        self,
        lists: Mapping[str, Filter | None],
        *,
        limit: int,
        after: str | None = None,
        before: str | None = None,
        once: bool = False,
    ) -> Page:
        return self._inner.list_several(lists, limit=limit, after=after, before=before, once=once)

    def list_in_order(
        self,
        lists: Mapping[str, Filter | None],
        order: JobOrder,
        *,
        limit: int,
        after: str | None = None,
        once: bool = False,
    ) -> Page:
        return self._inner.list_in_order(lists, order, limit=limit, after=after, once=once)

    def active(self, states: Collection[State] = ACTIVE) -> tuple[Job, ...]:
        return self._inner.active(states)

    def runs(self, uid: JobUid) -> tuple[Job, ...]:
        return self._inner.runs(uid)

    def running_times(self, begin: datetime, end: datetime) -> tuple[RunningTimes, ...]:
        return self._inner.running_times(begin, end)

    def writing_to(self, directory: str) -> tuple[Job, ...]:
        return self._inner.writing_to(directory)

    def counts(self, *, runs: bool = False) -> dict[State, int]:
        return self._inner.counts(runs=runs)

    def events(self, uid: JobUid, after: int = 0, limit: int = 1000) -> tuple[StoredEvent, ...]:
        return self._inner.events(uid, after, limit)

    def close(self) -> None:
        self._inner.close()
