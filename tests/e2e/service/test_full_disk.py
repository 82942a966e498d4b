"""The disk of a service is full: nothing is lost, and all goes on when there is room again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.e2e.service.test_fault_injector import MASTER, PAIR, TALKER, WORKER
from tests.e2e.service.tuning_helpers import REPORTER, curve, leftovers, search, starts, trials
from tests.support.disks import fill, small_disk

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root"),
]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 32 MiB of its own."""
    with small_disk(tmp_path / "disk", "32m") as disk:
        yield disk


@pytest.fixture
def context(disk: Path) -> Iterator[Context]:
    with running_service(disk, CACHE, stop_grace_s=1) as service:
        yield Context(service)


def holds_back(disk: Path, replica: str) -> bool:
    """Whether the replica has told its spool that its output waits for room."""
    segments = disk.glob(f"replicas/*/{replica}/spool/*")
    return any(b"OUTPUT_HELD" in segment.read_bytes() for segment in segments)


def test_a_gang_whose_output_finds_no_room_waits_for_it(context: Context, disk: Path) -> None:
    name = context.submit(TALKER, **PAIR)
    context.until(lambda: {line.replica for line in context.lines(name)} == {MASTER, WORKER})

    def held() -> bool:
        fill(disk)
        return all(holds_back(disk, replica) for replica in (MASTER, WORKER))

    context.until(held)
    seen = len(context.lines(name))
    (disk / "ballast").unlink()
    context.until(lambda: len(context.lines(name)) > seen + 100)
    (context.out(name) / "enough").touch()
    context.wait_for(name, State.SUCCEEDED)

    lines = sorted(context.lines(name), key=lambda line: line.replica)
    for replica, printed in groupby(lines, key=lambda line: line.replica):
        messages = [line.message for line in printed]
        assert messages == [f"line {n}" for n in range(1, len(messages) + 1)], replica
    with context.client() as client:
        told = [event for event in client.events(name) if event.kind == "OUTPUT_HELD"]
    assert {event.replica for event in told} == {MASTER, WORKER}
    assert all("No space left on device" in event.message for event in told)


def test_a_job_that_can_not_be_kept_is_refused_and_can_come_again(
    context: Context, disk: Path
) -> None:
    fill(disk)
    with pytest.raises(Unavailable, match="full"):
        context.submit("print('hello')")
    (disk / "ballast").unlink()

    context.sent = 0
    name = context.submit("print('hello')")
    context.wait_for(name, State.SUCCEEDED)
    assert context.messages(name) == ["hello"]


HASTY = """
import pathlib, sys, time
path = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
path.mkdir(parents=True, exist_ok=True)
print("begun", flush=True)
with open(path / "much", "wb", buffering=0) as file:
    while True:
        try:
            file.write(bytes(1 << 16))
        except OSError as error:
            print(error, "and nothing stops me", flush=True)
"""
GREEDY = HASTY.replace(
    "with open", "while not (path / 'go').exists():\n    time.sleep(0.01)\nwith open"
)


def trouble(context: Context) -> str:
    with context.client() as client:
        return client.status().trouble


def submit_again(context: Context, name: TrainingJobName) -> None:
    """With what lies in the bucket already: only the job is to be kept."""
    with context.client() as client:
        given = dict(client.job(name).resource)["trainingInput"]
        client.training_jobs.create("demo", {"jobId": "again", "trainingInput": given})


def test_a_program_that_fills_the_disk_can_be_cancelled_also_after_a_crash_of_the_server(
    context: Context, disk: Path
) -> None:
    """What it has written stays, and it takes every byte that is freed while it lives."""
    context.until(lambda: (disk / "reserve").exists())
    for crashed in (False, True):
        name = context.submit(GREEDY)
        context.wait_for(name, State.RUNNING)
        (context.out(name) / "go").touch()
        context.until(lambda: os.statvfs(disk).f_bavail == 0)
        with pytest.raises(Unavailable, match="disk full: 0 MiB free"):
            submit_again(context, name)
        if crashed:
            context.service.kill()
            context.service.start()
        # A server that starts takes some of the reserve, of which the program takes what is left.
        context.until(lambda: trouble(context).startswith("disk full: 0 MiB free; "))
        context.until(lambda: "disk full: " in context.service.log.read_text())
        with context.client() as client:
            assert str(client.health()["trouble"]).startswith("disk full: 0 MiB free; ")
            client.cancel(name)
        context.wait_for(name, State.CANCELLED)
        with context.client() as client:
            assert "DISK_FULL" in [event.kind for event in client.events(name)]
        context.until(lambda: leftovers(context) == [])
        assert context.messages(name)[0] == "begun"
        (context.out(name) / "much").unlink()
        context.until(lambda: trouble(context) == "")


def test_one_that_fills_it_before_its_start_was_told_can_be_cancelled_too(
    context: Context, disk: Path
) -> None:
    context.until(lambda: (disk / "reserve").exists())
    name = context.submit(HASTY)
    context.until(lambda: os.statvfs(disk).f_bavail == 0)
    with context.client() as client:
        client.cancel(name)
    context.wait_for(name, State.CANCELLED)
    context.until(lambda: leftovers(context) == [])
    assert context.messages(name)[0] == "begun"


EATER = """
with open("/tmp/much", "wb", buffering=0) as file:
    while True:
        file.write(bytes(1 << 16))
"""


def test_a_program_that_fills_its_tmp_says_so_and_gives_it_back(
    context: Context, disk: Path
) -> None:
    name = context.submit(EATER)
    job = context.wait_for(name, State.FAILED)
    assert "OSError: [Errno 28] No space left on device" in job.error_message
    context.until(lambda: leftovers(context) == [])

    other = context.submit("open('/tmp/much', 'wb').write(bytes(8 << 20))")
    context.wait_for(other, State.SUCCEEDED)


TRIALS = 4
PATIENT = REPORTER + (
    """
print(json.dumps({"trial": trial}), flush=True)
while not (given.job_dir.parent / "go").exists():
    time.sleep(0.05)
reporter = HyperTune()
for step in (1, 2):
    while True:
        try:
            reporter.tell("loss", given.x / step, step)
            break
        except OSError:
            time.sleep(0.05)
    print("told", step, flush=True)
"""
)


def test_a_search_waits_for_room(context: Context, disk: Path) -> None:
    """Its programs know how to wait; what else there is of it has to."""
    name = context.submit(PATIENT, hyperparameters=search(TRIALS, 2))
    context.out(name).mkdir(parents=True, exist_ok=True)
    context.until(lambda: len(starts(context, name)) == 2)
    (context.out(name) / "go").touch()
    fill(disk)
    for _ in range(20):
        fill(disk)
        state = context.job(name).state
        assert state is State.SUCCEEDED or not state.terminal  # What is freed meanwhile may do.
    assert context.service.alive
    (disk / "ballast").unlink()

    context.wait_for(name, State.SUCCEEDED)
    numbers = list(range(1, TRIALS + 1))
    found = trials(context, name)
    ends = [(trial.number, trial.state, trial.infeasible_reason) for trial in found]
    assert ends == [(number, "SUCCEEDED", "") for number in numbers]
    assert {number: len(said) for number, said in starts(context, name).items()} == {
        str(number): 1 for number in numbers
    }
    for number in numbers:
        assert [point.step for point in curve(context, name, number)][-1:] == [2]
    context.until(lambda: leftovers(context) == [])
