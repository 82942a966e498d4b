"""Machine-hours by project and day, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.footplate_v1.jobs import hours_routes, read_days
from footplate.api.security import Access
from footplate.control.costs import Costs
from footplate.domain.errors import InvalidArgument
from footplate.domain.job_states import State
from footplate.domain.jobs import MachineSpec
from footplate.domain.machine_hours import Prices
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.http_server import serve
from tests.support.jobs import make_job, make_spec
from tests.support.store import MemoryStore

NOW = datetime(2026, 3, 10, 6, tzinfo=UTC)
TODAY = NOW.date()
HOUR = timedelta(hours=1)
GPUS = MachineSpec("n1-standard-4", "NVIDIA_TESLA_T4", 2)


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    store, clock = MemoryStore(), FakeClock(NOW)
    running = make_job("projects/ads/jobs/runs", spec=make_spec(machine=GPUS))
    store.create(replace(running, state=State.RUNNING, start_time=NOW - 8 * HOUR), ())
    ended = make_job("projects/vision/jobs/ended", state=State.SUCCEEDED)
    store.create(replace(ended, start_time=NOW - 30 * HOUR, end_time=NOW - 29 * HOUR), ())
    prices = Prices("EUR", {"n1-standard-4": 0.5}, {})
    routes = hours_routes(Costs(store, built_in(), prices, clock), store.get)
    with serve(create_app(routes, Access())) as url, httpx.Client(base_url=url) as client:
        yield client


def test_the_last_thirty_days_by_day_and_project(http: httpx.Client) -> None:
    answer = http.get("/footplate/v1/machineHours").json()
    assert answer == {
        "startDate": "2026-02-09",
        "endDate": "2026-03-10",
        "timeZone": "UTC",
        "days": [
            {
                "date": "2026-03-09",
                "project": "ads",
                "machineHours": {"n1-standard-4": 2},
                "acceleratorHours": {"NVIDIA_TESLA_T4": 4},
            },
            {
                "date": "2026-03-09",
                "project": "vision",
                "machineHours": {"n1-standard-4": 1},
                "acceleratorHours": {},
                "cost": 0.5,
                "currency": "EUR",
            },
            {
                "date": "2026-03-10",
                "project": "ads",
                "machineHours": {"n1-standard-4": 6},
                "acceleratorHours": {"NVIDIA_TESLA_T4": 12},
            },
        ],
    }


def test_days_and_project_are_chosen(http: httpx.Client) -> None:
    asked = {"project": "ads", "startDate": "2026-03-01", "endDate": "2026-03-09"}
    answer = http.get("/footplate/v1/machineHours", params=asked).json()
    assert [(day["date"], day["project"]) for day in answer["days"]] == [("2026-03-09", "ads")]
    assert (answer["startDate"], answer["endDate"]) == ("2026-03-01", "2026-03-09")


@pytest.mark.parametrize(
    ("start", "end", "field", "part"),
    [
        ("2026-03-11", "", "startDate", '"2026-03-11" given; allowed: today (2026-03-10 in UTC)'),
        (
            "",
            "tomorrow",
            "endDate",
            '"tomorrow" given; allowed: today (2026-03-10 in UTC)',
        ),
        (
            "2026-03-05",
            "2026-03-04",
            "startDate",
            "2026-03-05 given; allowed: a day from 2025-12-03 to",
        ),
        ("2025-12-08", "", "startDate", "allowed: a day from 2025-12-09 to 2026-03-10"),
    ],
)
def test_days_that_are_not_to_be_had_are_refused(
    start: str, end: str, field: str, part: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        read_days(start, end, TODAY)
    (violation,) = caught.value.violations
    assert violation.field == field
    assert part in violation.description


def test_ninety_two_days_are_answered_and_days_begin_with_the_calendar() -> None:
    days = read_days("2025-12-09", "", TODAY)
    assert (days.last - days.first).days == 91
    first = read_days("", "0001-01-02", TODAY)
    assert (first.first, first.last) == (date(1, 1, 1), date(1, 1, 2))
