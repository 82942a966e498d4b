"""Programs that sleep or are stopped, and stopped supervisors: the events of a job say so."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from footplate.domain.states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.client.resources import Event
    from footplate.domain.names import JobName

SLEEPER = """
import json, os, pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1])
print("begins", flush=True)
while not (out / "go").exists():
    time.sleep(0.05)
print("goes on", flush=True)
while not (out / "enough").exists():
    time.sleep(0.05)
"""
GANG = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "workerType": "n1-standard-4",
    "workerCount": "1",
}
WATCH = {"usage_s": 0.2, "hang_s": 2, "heartbeat_s": 1, "stop_grace_s": 1}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with running_service(tmp_path / "data", CACHE, **WATCH) as service:
        yield Desk(service)


def events(desk: Desk, name: JobName, *kinds: str) -> list[Event]:
    with desk.client() as client:
        return [event for event in client.events(name) if event.kind in kinds]


def wait_for(desk: Desk, name: JobName, kind: str, count: int = 1) -> Event:
    desk.until(lambda: len(events(desk, name, kind)) >= count)
    return events(desk, name, kind)[-1]


def programs(desk: Desk) -> list[int]:
    """The processes that work in a replica's directory."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            place = (directory / "cwd").readlink()
            if place.name == "work" and place.is_relative_to(desk.service.data_dir / "replicas"):
                found.append(int(directory.name))
    return found


def test_a_silence_is_told_once_whoever_serves_and_again_after_a_line(desk: Desk) -> None:
    name = desk.submit(SLEEPER, **GANG)
    told = wait_for(desk, name, "HANG")
    assert told.message.startswith("nothing was printed, reported or written for ")
    assert told.message.endswith(": all 2 replicas are idle")

    desk.service.kill()
    desk.service.start()
    (desk.out(name) / "go").touch()
    wait_for(desk, name, "HANG_OVER")
    wait_for(desk, name, "HANG", 2)
    (desk.out(name) / "enough").touch()
    desk.wait_for(name, State.SUCCEEDED)
    kinds = [event.kind for event in events(desk, name, "HANG", "HANG_OVER")]
    assert kinds[:3] == ["HANG", "HANG_OVER", "HANG"]
    assert all(before != after for before, after in pairwise(kinds))


def test_a_stopped_program_and_a_stopped_supervisor_are_told_apart(desk: Desk) -> None:
    name = desk.submit(SLEEPER)
    desk.wait_for(name, State.RUNNING)
    desk.until(lambda: desk.messages(name) == ["begins"])
    (pid,) = programs(desk)
    os.kill(pid, signal.SIGSTOP)
    told = wait_for(desk, name, "STOPPED_BY_SIGNAL")
    assert told.replica == "master-replica-0"
    assert "SIGCONT" in told.message
    hang = wait_for(desk, name, "HANG")
    assert hang.message.endswith("master-replica-0 is stopped by a signal (such as SIGSTOP)")
    os.kill(pid, signal.SIGCONT)
    wait_for(desk, name, "CONTINUED")

    (file,) = desk.service.data_dir.glob("replicas/*/*/pid")
    os.kill(int(file.read_text()), signal.SIGSTOP)
    told = wait_for(desk, name, "SILENT")
    assert told.replica == "master-replica-0"
    assert "nothing was heard of its supervisor since" in told.message
    os.kill(int(file.read_text()), signal.SIGCONT)
    wait_for(desk, name, "HEARD_AGAIN")
    for mark in ("go", "enough"):
        (desk.out(name) / mark).touch()
    desk.wait_for(name, State.SUCCEEDED)


def test_a_job_that_is_silent_for_too_long_is_ended_and_says_where_it_stood(
    tmp_path: Path,
) -> None:
    with running_service(tmp_path / "data", CACHE, hang_limit_s=4, **WATCH) as service:
        desk = Desk(service)
        name = desk.submit(SLEEPER, **GANG)
        job = desk.wait_for(name, State.FAILED)
        assert job.error_message == "nothing was printed, reported or written for 4 s"
        assert len(events(desk, name, "HANG")) == 1
        (stacks,) = events(desk, name, "STACKS")
        assert stacks.message
        assert programs(desk) == []
