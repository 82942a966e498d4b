"""The course of a job as a bar."""

from __future__ import annotations

from datetime import datetime

import pytest

from footplate.console.timeline import WIDTH, make_timeline
from footplate.wire.json_text import JsonObject

NOW = datetime.fromisoformat("2026-01-02T01:00:00+00:00")


def at(minute: int) -> str:
    return f"2026-01-02T00:{minute:02}:00.000000Z"


def event(minute: int, kind: str, replica: str = "") -> JsonObject:
    return {"time": at(minute), "kind": kind, "replica": replica, "message": ""}


def test_a_job_that_was_lost_runs_twice() -> None:
    events = [
        event(0, "QUEUED"),
        event(1, "PREPARING"),
        event(2, "PREPARING", "worker-0"),
        event(5, "RUNNING"),
        event(20, "RESTART", "worker-0"),
        event(30, "RETRY", "worker-0"),
        event(30, "PREPARING"),
        event(31, "RUNNING"),
        event(50, "SUCCEEDED"),
    ]
    job: JsonObject = {"createTime": at(0), "endTime": at(50)}
    timeline = make_timeline(job, events, NOW)
    assert [(s.state, s.seconds / 60) for s in timeline.segments] == [
        ("QUEUED", 1),
        ("PREPARING", 4),
        ("RUNNING", 25),
        ("PREPARING", 1),
        ("RUNNING", 19),
    ]
    assert [marker.x for marker in timeline.markers] == [400, 600]
    last = timeline.segments[-1]
    assert last.x + last.width == pytest.approx(WIDTH, abs=WIDTH / 100)


def test_a_job_that_runs_goes_on_until_now() -> None:
    job: JsonObject = {"createTime": at(0)}
    timeline = make_timeline(job, [event(0, "QUEUED"), event(10, "RUNNING")], NOW)
    assert [(s.state, s.seconds / 60) for s in timeline.segments] == [
        ("QUEUED", 10),
        ("RUNNING", 50),
    ]


def test_a_clock_that_jumps_breaks_nothing() -> None:
    job: JsonObject = {"createTime": at(30), "endTime": at(10)}
    timeline = make_timeline(job, [event(20, "RUNNING"), event(5, "FAILED")], NOW)
    assert all(s.seconds >= 0 and s.width > 0 for s in timeline.segments)
    assert make_timeline({"createTime": at(0)}, [], NOW).segments[0].state == "QUEUED"
