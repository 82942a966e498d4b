"""What jobs have used, as pages show it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from footplate.console.hours import ProjectUse, cost, ran_hours, use_by_project, used

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
PRICED = {"machines": 2, "accelerators": 4, "cost": 1.5, "currency": "EUR"}


def job(per_hour: object = PRICED, **times: str) -> dict[str, Any]:
    return {"project": "ads", "perHour": per_hour, **times}


RUNNING = job(startTime="2026-01-02T10:00:00Z")
ENDED = job(startTime="2026-01-02T10:00:00Z", endTime="2026-01-02T10:30:00Z")
UNPRICED = job({"machines": 1, "accelerators": 0}, startTime="2026-01-02T11:00:00Z")


def test_hours_are_those_since_the_start() -> None:
    assert [ran_hours(each, NOW) for each in (RUNNING, ENDED, job())] == [2.0, 0.5, 0.0]
    assert used(RUNNING, NOW) == ["4 machine-h", "8 accelerator-h"]
    assert used(ENDED, NOW) == ["1 machine-h", "2 accelerator-h"]
    assert used(UNPRICED, NOW) == ["1 machine-h"]
    brief = {**ENDED, "endTime": "2026-01-02T10:00:03Z"}
    assert used(brief, NOW) == ["< 0.01 machine-h", "< 0.01 accelerator-h"]
    assert used(job(), NOW) == used({"startTime": "2026-01-02T10:00:00Z"}, NOW) == []


def test_costs_need_prices() -> None:
    assert cost(RUNNING, NOW) == "3.00 EUR"
    assert cost(UNPRICED, NOW) == cost(job(), NOW) == ""


def test_projects_add_up() -> None:
    other = {**UNPRICED, "project": "a"}
    without = {"project": "ads", "startTime": "2026-01-02T10:00:00Z"}
    assert use_by_project([RUNNING, other, UNPRICED, RUNNING, without], NOW) == [
        ProjectUse("a", 1, 1, 0, 1.0, 0.0, unpriced=1),
        ProjectUse("ads", 3, 5, 8, 9.0, 16.0, 6.0, 3.0, "EUR", 1),
    ]
