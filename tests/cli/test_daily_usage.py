"""``footplate usage``, against a service with two projects."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result

from footplate.api.app import create_app
from footplate.api.footplate_v1.jobs import hours_routes
from footplate.api.security import Access
from footplate.cli.main import main
from footplate.control.costs import Costs
from footplate.domain.job_states import State
from footplate.domain.machine_hours import Prices
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.http_server import serve
from tests.support.jobs import make_job
from tests.support.store import MemoryStore

NOW = datetime(2026, 3, 10, 6, tzinfo=UTC)


@pytest.fixture
def invoke(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Result]]:
    """Run ``footplate usage WORDS``; an exception that is no exit is raised."""
    for name in ("FOOTPLATE_TOKEN", "FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    store, clock = MemoryStore(), FakeClock(NOW)
    for hours, project in enumerate(("ads", "vision"), 1):
        job = make_job(f"projects/{project}/jobs/train", state=State.SUCCEEDED)
        end = NOW - timedelta(hours=1)
        store.create(replace(job, start_time=end - timedelta(hours=hours), end_time=end), ())
    costs = Costs(store, built_in(), Prices("EUR", {"n1-standard-4": 0.5}, {}), clock)
    with serve(create_app(hours_routes(costs, store.get), Access())) as url:

        def run(*words: str) -> Result:
            result = CliRunner().invoke(main, ("usage", "--url", url, *words))
            if result.exception is not None and not isinstance(result.exception, SystemExit):
                raise result.exception
            return result

        yield run


def test_a_row_for_each_day_and_project(invoke: Callable[..., Result]) -> None:
    lines = [line.split() for line in invoke().stdout.splitlines()]
    assert lines == [
        ["DATE", "PROJECT", "MACHINE_HOURS", "ACCELERATOR_HOURS", "COST"],
        ["2026-03-10", "ads", "1", "0", "0.50", "EUR"],
        ["2026-03-10", "vision", "2", "0", "1.00", "EUR"],
    ]


def test_a_project_and_days_are_chosen(invoke: Callable[..., Result]) -> None:
    found = json.loads(invoke("--project=vision", "--format=json").stdout)
    assert [(day["project"], day["machineHours"]) for day in found] == [
        ("vision", {"n1-standard-4": 2.0})
    ]
    nothing = invoke("--start-date=2026-03-01", "--end-date=2026-03-02")
    assert (nothing.stdout, nothing.stderr) == ("", "Listed 0 items.\n")


def test_a_wrong_day_is_refused_by_name(invoke: Callable[..., Result]) -> None:
    refused = invoke("--end-date=2027-01-01")
    assert refused.exit_code == 1
    assert 'endDate: "2027-01-01" given; allowed: today (' in refused.stderr
