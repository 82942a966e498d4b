"""Programs that sleep or are stopped, and stopped supervisors: the events of a job say so."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import JobName
from footplate.testing.service import running_service
from footplate.wire.footplate_v1.events import Event
from tests.e2e.service.conftest import CACHE, Context

SLEEPER = """
import json, os, pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
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
def context(tmp_path: Path) -> Iterator[Context]:
    with running_service(tmp_path / "data", CACHE, **WATCH) as service:
        yield Context(service)


def events(context: Context, name: JobName, *kinds: str) -> list[Event]:
    with context.client() as client:
        return [event for event in client.events(name) if event.kind in kinds]


def wait_for(context: Context, name: JobName, kind: str, count: int = 1) -> Event:
    context.until(lambda: len(events(context, name, kind)) >= count)
    return events(context, name, kind)[-1]


def programs(context: Context) -> list[int]:
    """The processes that work in a replica's directory."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            place = (directory / "cwd").readlink()
            if place.name == "work" and place.is_relative_to(context.service.data_dir / "replicas"):
                found.append(int(directory.name))
    return found


def test_a_silence_is_told_once_whoever_serves_and_again_after_a_line(context: Context) -> None:
    name = context.submit(SLEEPER, **GANG)
    told = wait_for(context, name, "HANG")
    assert told.message.startswith("no program has printed, reported or written anything for ")
    assert told.message.endswith(": all 2 replicas are idle")

    context.service.kill()
    context.service.start()
    (context.out(name) / "go").touch()
    wait_for(context, name, "HANG_OVER")
    wait_for(context, name, "HANG", 2)
    (context.out(name) / "enough").touch()
    context.wait_for(name, State.SUCCEEDED)
    kinds = [event.kind for event in events(context, name, "HANG", "HANG_OVER")]
    assert kinds[:3] == ["HANG", "HANG_OVER", "HANG"]
    assert all(before != after for before, after in pairwise(kinds))


def test_a_stopped_program_and_a_stopped_supervisor_are_told_apart(context: Context) -> None:
    name = context.submit(SLEEPER)
    context.wait_for(name, State.RUNNING)
    context.until(lambda: context.messages(name) == ["begins"])
    (pid,) = programs(context)
    os.kill(pid, signal.SIGSTOP)
    told = wait_for(context, name, "STOPPED_BY_SIGNAL")
    assert told.replica == "master-replica-0"
    assert "SIGCONT" in told.message
    hang = wait_for(context, name, "HANG")
    assert hang.message.endswith("master-replica-0 is stopped by a signal such as SIGSTOP")
    os.kill(pid, signal.SIGCONT)
    wait_for(context, name, "CONTINUED")

    (file,) = context.service.data_dir.glob("replicas/*/*/pid")
    os.kill(int(file.read_text()), signal.SIGSTOP)
    told = wait_for(context, name, "SILENT")
    assert told.replica == "master-replica-0"
    assert "the replica's supervisor has not reported since" in told.message
    os.kill(int(file.read_text()), signal.SIGCONT)
    wait_for(context, name, "HEARD_AGAIN")
    for mark in ("go", "enough"):
        (context.out(name) / mark).touch()
    context.wait_for(name, State.SUCCEEDED)


def test_a_job_that_is_silent_for_too_long_is_ended_and_says_where_it_stood(
    tmp_path: Path,
) -> None:
    with running_service(tmp_path / "data", CACHE, hang_limit_s=4, **WATCH) as service:
        context = Context(service)
        name = context.submit(SLEEPER, **GANG)
        job = context.wait_for(name, State.FAILED)
        assert job.error_message == "no program has printed, reported or written anything for 4 s"
        assert len(events(context, name, "HANG")) == 1
        (stacks,) = events(context, name, "STACKS")
        assert stacks.message
        assert programs(context) == []
