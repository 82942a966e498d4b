"""A store that forgets everything at its end: for tests, and the oracle of the real ones."""

from __future__ import annotations

from collections import Counter
from functools import cmp_to_key, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

from footplate.domain.daily_hours import DAY_US, RunningTimes
from footplate.domain.errors import Aborted, NotFound, name_taken
from footplate.domain.filters import Field, selects
from footplate.domain.job_order import directions, order_values
from footplate.domain.machine_hours import machines_of
from footplate.domain.names import StudyUid, pipeline_uid
from footplate.domain.output_directories import output_directory
from footplate.domain.timestamps import to_micros
from footplate.ports.store import ACTIVE, Page, StoredEvent
from footplate.store.input_checks import check_filter, check_texts
from footplate.store.ordered_list import order_key, parse_order_key
from footplate.store.paging import Position, make_page
from tests.support.models import MemoryModels
from tests.support.studies import MemoryStudies

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from footplate.domain.filters import Comparison, Filter
    from footplate.domain.job_order import JobOrder
    from footplate.domain.job_states import State
    from footplate.domain.jobs import Job, JobEvent
    from footplate.domain.names import JobName, JobUid


class MemoryStore:
    """``footplate.ports.store.Store`` in two dictionaries, and ``studies`` beside them."""

    def __init__(self) -> None:
        self.studies = MemoryStudies()
        self.models = MemoryModels()
        self._lock = Lock()
        self._jobs: dict[JobUid, Job] = {}
        self._events: dict[JobUid, list[JobEvent]] = {}

    def create(self, job: Job, events: Sequence[JobEvent]) -> None:
        with self._lock:
            check_texts(job)
            self._check_tuning_job(job.tuning_job)
            if job.uid in self._jobs or any(job.name == o.name for o in self._jobs.values()):
                raise name_taken(job.name)
            self._jobs[job.uid], self._events[job.uid] = job, []
            self._append(job.uid, events)

    def get(self, name: JobName) -> Job:
        with self._lock:
            return self._find(name)

    def get_by_uid(self, uid: JobUid) -> Job:
        with self._lock:
            return self._find_by_uid(uid)

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        with self._lock:
            check_texts(job)
            _guard(self._find_by_uid(job.uid), job.version - 1)
            self._jobs[job.uid] = job
            self._append(job.uid, events)

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        with self._lock:
            self._find_by_uid(uid)
            self._append(uid, events)

    def delete(self, name: JobName, version: int) -> None:
        with self._lock:
            job = self._find(name)
            _guard(job, version)
            runs = [run.uid for run in self._jobs.values() if run.tuning_job == job.uid]
            for uid in (*runs, job.uid):
                del self._jobs[uid], self._events[uid]
            self.studies.delete(StudyUid(job.uid))

    def list(self, collection: str, *, where: Filter | None, limit: int, after: str | None) -> Page:
        return self.list_several({collection: where}, limit=limit, after=after)

    def collections(self) -> tuple[str, ...]:
        with self._lock:
            found = {j.name.collection for j in self._jobs.values() if j.tuning_job is None}
        return tuple(sorted(found))

    def list_several(
        self,
        lists: Mapping[str, Filter | None],
        *,
        limit: int,
        after: str | None = None,
        before: str | None = None,
        once: bool = False,
    ) -> Page:
        older = None if after is None else Position.parse(after)
        newer = None if before is None else Position.parse(before)
        for where in lists.values():
            if where is not None:
                check_filter(where)
        with self._lock:
            jobs = sorted(self._jobs.values(), key=Position.of, reverse=before is None)
        rest = [
            job
            for job in jobs
            if not (once and self._has_row(job, lists))
            and job.name.collection in lists
            and job.tuning_job is None
            and _is_selected(lists[job.name.collection], job)
            and (older is None or Position.of(job) < older)
            and (newer is None or Position.of(job) > newer)
        ]
        return make_page(rest, limit, after=after, before=before)

    def list_in_order(
        self,
        lists: Mapping[str, Filter | None],
        order: JobOrder,
        *,
        limit: int,
        after: str | None = None,
        once: bool = False,
    ) -> Page:
        behind = None if after is None else parse_order_key(after, order)
        with self._lock:
            found = [
                job
                for job in self._jobs.values()
                if job.tuning_job is None
                and not (once and self._has_row(job, lists))
                and job.name.collection in lists
                and _is_selected(lists[job.name.collection], job)
            ]
        places = {job.uid: order_values(job, order) for job in found}
        compare = partial(_compare, directions(order))
        found.sort(key=lambda job: cmp_to_key(compare)(places[job.uid]))
        if behind is not None:
            found = [job for job in found if compare(places[job.uid], behind) > 0]
        more = len(found) > limit
        return Page(tuple(found[:limit]), order_key(found[limit - 1], order) if more else None)

    def active(self, states: Collection[State] = ACTIVE) -> tuple[Job, ...]:
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.state in states]
        return tuple(sorted(jobs, key=Position.of))

    def runs(self, uid: JobUid) -> tuple[Job, ...]:
        with self._lock:
            runs = [job for job in self._jobs.values() if job.tuning_job == uid]
        return tuple(sorted(runs, key=_order_of_making))

    def writing_to(self, directory: str) -> tuple[Job, ...]:
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.tuning_job is None]
        found = [job for job in jobs if output_directory(job.spec) == directory]
        return tuple(sorted(found, key=Position.of, reverse=True))

    def running_times(self, begin: datetime, end: datetime) -> tuple[RunningTimes, ...]:
        with self._lock:
            jobs = [job for job in self._jobs.values() if job.spec.runs_itself]
        return tuple(
            _running_times(job, max(job.start_time, begin), min(job.end_time or end, end))
            for job in jobs
            if job.start_time is not None
            and job.start_time < end
            and (job.end_time is not None or not job.state.terminal)
            and (job.end_time is None or job.end_time > begin)
        )

    def counts(self, *, runs: bool = False) -> dict[State, int]:
        found = (job for job in self.active() if (job.tuning_job is not None) == runs)
        return dict(Counter(job.state for job in found))

    def events(self, uid: JobUid, after: int = 0, limit: int = 1000) -> tuple[StoredEvent, ...]:
        with self._lock:
            events = self._events.get(uid, [])[after : after + limit]
        return tuple(StoredEvent(number, event) for number, event in enumerate(events, after + 1))

    def close(self) -> None:
        """Nothing to close: what it holds can still be looked at."""

    def _has_row(self, job: Job, lists: Mapping[str, Filter | None]) -> bool:
        """Whether the pipeline whose program a job runs is in the lists."""
        uid = pipeline_uid(job.uid)
        pipeline = None if uid is None else self._jobs.get(uid)
        if pipeline is None or pipeline.name.collection not in lists:
            return False
        return _is_selected(lists[pipeline.name.collection], pipeline)

    def _find(self, name: JobName) -> Job:
        for job in self._jobs.values():
            if job.name == name:
                return job
        raise NotFound(f"{name} does not exist")

    def _find_by_uid(self, uid: JobUid) -> Job:
        if uid not in self._jobs:
            raise NotFound(f"{uid} does not exist")
        return self._jobs[uid]

    def _check_tuning_job(self, uid: JobUid | None) -> None:
        found = self._jobs.get(uid) if uid else None
        if uid is not None and (found is None or found.tuning_job is not None):
            raise NotFound(f"there is no tuning job {uid!a}")

    def _append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        kept = self._events[uid]
        known = {event.key for event in kept if event.key is not None}
        for event in events:
            if event.key not in known:
                kept.append(event)
            if event.key is not None:
                known.add(event.key)


def _running_times(job: Job, start: datetime, end: datetime) -> RunningTimes:
    first_day, started_us = divmod(to_micros(start), DAY_US)
    last_day, ended_us = divmod(to_micros(max(start, end)), DAY_US)
    machines = machines_of(job.spec)
    return RunningTimes(job.name.project, machines, 1, first_day, started_us, last_day, ended_us)


def _is_selected(where: Filter | None, job: Job) -> bool:
    return where is None or selects(where, partial(_value, job))


def _value(job: Job, asked: Comparison) -> object:
    """Returns what a filter compares."""
    match asked.field:
        case Field.JOB_ID:
            return job.id
        case Field.AUTHOR:
            return job.author or None
        case Field.LABEL:
            return dict(job.labels).get(asked.label or "")
        case _:
            return getattr(job, asked.field.value)


def _order_of_making(job: Job) -> tuple[datetime, int, str, str]:
    return job.create_time, len(job.name.job_id), job.name.job_id, job.uid


def _guard(stored: Job, version: int) -> None:
    if stored.version != version:
        raise Aborted(f"job {stored.uid} is at version {stored.version}, not {version}")


def _compare(down: Sequence[bool], one: Sequence[Any], other: Sequence[Any]) -> int:
    """Below 0 where ``one`` comes first."""
    for left, right, descends in zip(one, other, down, strict=True):
        if left != right:
            return -1 if (left > right) == descends else 1
    return 0
