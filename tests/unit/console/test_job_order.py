"""The list of jobs by a column."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from footplate.console.job_list import COLUMNS, next_order, read_order, sort_jobs

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def job(name: str, **more: Any) -> dict[str, Any]:
    return {
        "displayName": name,
        "jobId": "1",
        "state": "SUCCEEDED",
        "kind": "jobs",
        "machines": [{"machineType": "e2", "count": 1}],
        "project": "p",
        "region": "r",
        "createTime": "2026-01-01T00:00:00Z",
        **more,
    }


JOBS = [
    job("beta", state="RUNNING", startTime="2026-01-01T00:00:00Z", perHour={"machines": 1}),
    job("Alpha", kind="customJobs", machines=[{"machineType": "e2", "count": 4}], project="z"),
    job("", state="QUEUED", createTime="2026-01-01T09:00:00Z", machines=[]),
    job(
        "gamma",
        startTime="2026-01-01T00:00:00Z",
        endTime="2026-01-01T01:00:00Z",
        perHour={"machines": 100},
    ),
]


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("name", ["", "Alpha", "beta", "gamma"]),
        ("-name", ["gamma", "beta", "Alpha", ""]),
        ("state", ["", "beta", "Alpha", "gamma"]),
        ("-ran", ["beta", "gamma", "Alpha", ""]),
        ("-used", ["gamma", "beta", "Alpha", ""]),
        ("kind", ["Alpha", "beta", "", "gamma"]),
        ("-machines", ["Alpha", "beta", "gamma", ""]),
        ("-where", ["Alpha", "beta", "", "gamma"]),
        ("created", ["beta", "Alpha", "gamma", ""]),
    ],
)
def test_jobs_are_sorted_by_any_column(order: str, names: list[str]) -> None:
    assert [each["displayName"] for each in sort_jobs(JOBS, order, NOW)] == names


def test_every_column_can_be_clicked_twice() -> None:
    for column in COLUMNS:
        first = next_order("" if column != "created" else "name", column)
        second = next_order(first, column)
        assert {first, second} == {column, f"-{column}"}
    assert next_order("", "created") == "created", "the newest come first already"


def test_an_order_that_is_unknown_is_that_of_the_service() -> None:
    assert [read_order(text) for text in ("", "-created", "size", "--name", "name desc")] == [
        ""
    ] * 5
