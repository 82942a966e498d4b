"""Machine-hours of each project and day, from how long its jobs ran. Pure; days are of UTC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING

from footplate.domain.catalogue import Catalogue
from footplate.domain.machine_hours import MachineHours, add, hours_held

if TYPE_CHECKING:
    from footplate.domain.machine_hours import Machines

MOST_DAYS = 92
DAY_US = 86_400_000_000
_MICROS = 1_000_000
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Days:
    """A period of days; both the first and the last are included."""

    first: date
    last: date

    @property
    def begin(self) -> datetime:
        return datetime.combine(self.first, time(), UTC)

    @property
    def end(self) -> datetime:
        return datetime.combine(self.last, time(), UTC) + timedelta(days=1)


@dataclass(frozen=True)
class RunningTimes:
    """The times of jobs that hold the same machines and began, and ended, on the same days.

    Days count from 1970; a time of day is in microseconds since midnight, summed over the jobs.
    Sums are enough for the hours of each day, so a store can add up without reading jobs.
    """

    project: str
    machines: Machines
    jobs: int
    first_day: int
    started_us: int
    last_day: int
    ended_us: int

    def seconds(self) -> Iterator[tuple[date, float]]:
        """Yields each day with the seconds that the jobs ran on it, all together."""
        for day in range(self.first_day, self.last_day + 1):
            begin = self.started_us if day == self.first_day else 0
            end = self.ended_us if day == self.last_day else self.jobs * DAY_US
            if end > begin:
                yield _EPOCH + timedelta(days=day), (end - begin) / _MICROS


@dataclass(frozen=True)
class DailyHours:
    """The hours that the jobs of a project held on one day."""

    day: date
    project: str
    hours: MachineHours


def daily_hours(times: Iterable[RunningTimes], catalogue: Catalogue) -> tuple[DailyHours, ...]:
    """Returns hours by day, then by project; leaves out days on which a project held nothing."""
    found: dict[tuple[date, str], MachineHours] = defaultdict(MachineHours)
    for each in times:
        for day, seconds in each.seconds():
            key = (day, each.project)
            found[key] = add(found[key], hours_held(each.machines, catalogue, seconds))
    return tuple(DailyHours(*key, found[key]) for key in sorted(found))
