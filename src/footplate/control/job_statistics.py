"""Counts how jobs ended and how long they waited, since this server began."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobUid

BOUNDS_S = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 4 * 3600.0, 24 * 3600.0)
"""Upper bounds of the buckets of times, in seconds; one more bucket has all that is longer."""
_MOST_PREPARING = 100_000
_ENDED = frozenset(state.value for state in State if state.terminal)

Place = tuple[str, str]
"""A project and a region."""


@dataclass
class Times:
    """A histogram of times: the count in each bucket, and the sum."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS_S) + 1))
    sum_s: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds


@dataclass(frozen=True)
class JobTotals:
    """The counts of ended jobs, and their waiting and preparation times.

    ``ended`` is by project, region, kind and result; trials of tuning jobs count as ``trial``. Only
    the first start of a job has a waiting time and a preparation time.
    """

    ended: Mapping[tuple[str, str, str, str], int]
    waited: Mapping[Place, Times]
    prepared: Mapping[Place, Times]


class JobStatistics:
    """Counts the ends and waiting times of jobs; sees each write to a job, on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: Counter[tuple[str, str, str, str]] = Counter()
        self._waited: dict[Place, Times] = {}
        self._prepared: dict[Place, Times] = {}
        self._preparing: dict[JobUid, datetime] = {}

    def note(self, job: Job, events: Sequence[JobEvent]) -> None:
        for event in events:
            with self._lock:
                self._note(job, event)

    def read(self) -> JobTotals:
        with self._lock:
            waited, prepared = map(_copied, (self._waited, self._prepared))
            return JobTotals(dict(self._ended), waited, prepared)

    def _note(self, job: Job, event: JobEvent) -> None:
        place = (job.name.project, job.region)
        if event.kind in _ENDED and event.kind == job.state.value:
            kind = "trial" if job.tuning_job is not None else job.name.collection.split("/")[-1]
            self._ended[(*place, kind, event.kind)] += 1
            self._preparing.pop(job.uid, None)
        elif event.kind == State.PREPARING.value and job.attempt == 1:
            waited_s = (event.time - job.create_time).total_seconds()
            self._waited.setdefault(place, Times()).add(max(0.0, waited_s))
            if len(self._preparing) < _MOST_PREPARING:
                self._preparing[job.uid] = event.time
        elif event.kind == State.RUNNING.value and job.uid in self._preparing:
            took_s = (event.time - self._preparing.pop(job.uid)).total_seconds()
            self._prepared.setdefault(place, Times()).add(max(0.0, took_s))


def _copied(times: Mapping[Place, Times]) -> dict[Place, Times]:
    return {place: Times([*each.counts], each.sum_s) for place, each in times.items()}
