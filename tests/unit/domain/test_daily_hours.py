"""Which hours fall on which day."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from footplate.domain.daily_hours import DAY_US, Days, RunningTimes, daily_hours
from footplate.domain.jobs import MachineSpec
from footplate.domain.machine_hours import MachineHours, machines_of
from tests.support.catalogue import built_in
from tests.support.jobs import make_spec

HOUR_US = DAY_US // 24
T4 = MachineSpec("n1-standard-4", "NVIDIA_TESLA_T4", 2)


def times(jobs: int, first: int, started_h: int, last: int, ended_h: int) -> RunningTimes:
    machines = machines_of(make_spec(workers=1, machine=T4))
    start, end = started_h * HOUR_US, ended_h * HOUR_US
    return RunningTimes("demo", machines, jobs, first, start, last, end)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (times(1, 0, 2, 0, 5), {1: 3}),
        (times(3, 0, 6, 0, 16), {1: 10}),
        (times(1, 0, 22, 1, 3), {1: 2, 2: 3}),
        (times(2, 0, 44, 2, 6), {1: 4, 2: 48, 3: 6}),
        (times(1, 0, 23, 1, 0), {1: 1}),
        (times(1, 0, 5, 0, 5), {}),
    ],
)
def test_hours_fall_on_their_days(given: RunningTimes, expected: dict[int, float]) -> None:
    found = {day: seconds / 3600 for day, seconds in given.seconds()}
    assert found == {date(1970, 1, day): hours for day, hours in expected.items()}


def test_machines_and_accelerators_of_a_project_and_day_are_summed() -> None:
    first, second = times(1, 0, 2, 0, 5), times(1, 0, 23, 1, 1)
    days = daily_hours((first, second), built_in())
    assert [(each.day.day, each.project, each.hours) for each in days] == [
        (1, "demo", MachineHours({"n1-standard-4": 8}, {"NVIDIA_TESLA_T4": 16})),
        (2, "demo", MachineHours({"n1-standard-4": 2}, {"NVIDIA_TESLA_T4": 4})),
    ]


def test_days_begin_and_end_at_midnight_in_utc() -> None:
    days = Days(date(2026, 2, 28), date(2026, 2, 28))
    assert (days.begin, days.end) == (
        datetime(2026, 2, 28, tzinfo=UTC),
        datetime(2026, 3, 1, tzinfo=UTC),
    )


def test_the_machines_of_a_job_are_counted_in_one_order() -> None:
    spec = make_spec(workers=2, evaluators=1, machine=T4)
    assert machines_of(spec) == ((T4, 4),)
