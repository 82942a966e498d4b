"""Computes what jobs hold, have used, and cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date

from footplate.domain.catalogue import Catalogue
from footplate.domain.daily_hours import Days, daily_hours
from footplate.domain.errors import NotFound
from footplate.domain.jobs import Job
from footplate.domain.machine_hours import MachineHours, Prices, hours_of, hours_used
from footplate.domain.names import backing_uid
from footplate.ports.clock import Clock
from footplate.ports.store import Store


@dataclass(frozen=True)
class Use:
    """The machine-hours of jobs and their cost; ``cost`` is None if a price is missing."""

    hours: MachineHours
    cost: float | None
    currency: str


class Costs:
    def __init__(self, store: Store, catalogue: Catalogue, prices: Prices, clock: Clock) -> None:
        self._store = store
        self._catalogue = catalogue
        self._prices = prices
        self._clock = clock

    def per_hour(self, job: Job) -> Use | None:
        """Returns what the job uses in an hour of running; None: other jobs run its programs."""
        if not job.spec.runs_itself:
            return None
        return self._use(hours_of(job.spec, self._catalogue))

    def used(self, job: Job) -> Use:
        """Returns what the job, with its trials or its pipeline's job, has used so far."""
        return self._use(hours_used(self._running(job), self._catalogue, self._clock.now()))

    def today(self) -> date:
        """Returns today's date in UTC."""
        return self._clock.now().astimezone(UTC).date()

    def daily(self, days: Days, project: str = "") -> Iterator[tuple[date, str, Use]]:
        """Yields what the jobs of ``project`` (empty: of each project) used on each day."""
        until = min(days.end, self._clock.now())
        times = self._store.running_times(days.begin, until)
        chosen = (each for each in times if project in ("", each.project))
        for each in daily_hours(chosen, self._catalogue):
            yield each.day, each.project, self._use(each.hours)

    def _use(self, hours: MachineHours) -> Use:
        return Use(hours, self._prices.cost(hours), self._prices.currency)

    def _running(self, job: Job) -> Iterator[Job]:
        """Yields the jobs that have replicas: the job, its trials, or a pipeline's job."""
        if job.spec.runs_itself:
            yield job
        elif job.spec.search is not None:
            yield from self._store.runs(job.uid)
        else:
            try:
                backing = self._store.get_by_uid(backing_uid(job.uid))
            except NotFound:
                return
            yield from self._running(backing)
