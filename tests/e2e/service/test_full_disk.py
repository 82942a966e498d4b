"""The disk of a service is full: nothing is lost, and all goes on when there is room again."""

from __future__ import annotations

import os
import sys
from itertools import groupby
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Desk
from tests.e2e.service.searching import REPORTER, curve, leftovers, search, starts, trials
from tests.e2e.service.test_fault_injector import MASTER, PAIR, TALKER, WORKER
from tests.support.disks import fill, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from footplate.domain.names import TrainingJobName

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root"),
]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 32 MiB of its own."""
    with small_disk(tmp_path / "disk", "32m") as disk:
        yield disk


@pytest.fixture
def desk(disk: Path) -> Iterator[Desk]:
    with running_service(disk, CACHE, stop_grace_s=1) as service:
        yield Desk(service)


def holds_back(disk: Path, replica: str) -> bool:
    """Whether the replica has told its spool that its output waits for room."""
    segments = disk.glob(f"replicas/*/{replica}/spool/*")
    return any(b"OUTPUT_HELD" in segment.read_bytes() for segment in segments)


def test_a_gang_whose_output_finds_no_room_waits_for_it(desk: Desk, disk: Path) -> None:
    name = desk.submit(TALKER, **PAIR)
    desk.until(lambda: {line.replica for line in desk.lines(name)} == {MASTER, WORKER})

    def held() -> bool:
        fill(disk)
        return all(holds_back(disk, replica) for replica in (MASTER, WORKER))

    desk.until(held)
    seen = len(desk.lines(name))
    (disk / "ballast").unlink()
    desk.until(lambda: len(desk.lines(name)) > seen + 100)
    (desk.out(name) / "enough").touch()
    desk.wait_for(name, State.SUCCEEDED)

    lines = sorted(desk.lines(name), key=lambda line: line.replica)
    for replica, printed in groupby(lines, key=lambda line: line.replica):
        messages = [line.message for line in printed]
        assert messages == [f"line {n}" for n in range(1, len(messages) + 1)], replica
    with desk.client() as client:
        told = [event for event in client.events(name) if event.kind == "OUTPUT_HELD"]
    assert {event.replica for event in told} == {MASTER, WORKER}
    assert all("No space left on device" in event.message for event in told)


def test_a_job_that_can_not_be_kept_is_refused_and_can_come_again(desk: Desk, disk: Path) -> None:
    fill(disk)
    with pytest.raises(Unavailable, match="full"):
        desk.submit("print('hello')")
    (disk / "ballast").unlink()

    desk.sent = 0
    name = desk.submit("print('hello')")
    desk.wait_for(name, State.SUCCEEDED)
    assert desk.messages(name) == ["hello"]


HASTY = """
import pathlib, sys, time
path = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1])
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


def trouble(desk: Desk) -> str:
    with desk.client() as client:
        return client.status().trouble


def submit_again(desk: Desk, name: TrainingJobName) -> None:
    """With what lies in the bucket already: only the job is to be kept."""
    with desk.client() as client:
        given = dict(client.job(name).resource)["trainingInput"]
        client.training_jobs.create("demo", {"jobId": "again", "trainingInput": given})


def test_a_program_that_fills_the_disk_can_be_cancelled_also_after_a_crash_of_the_server(
    desk: Desk, disk: Path
) -> None:
    """What it has written stays, and it takes every byte that is freed while it lives."""
    desk.until(lambda: (disk / "reserve").exists())
    for crashed in (False, True):
        name = desk.submit(GREEDY)
        desk.wait_for(name, State.RUNNING)
        (desk.out(name) / "go").touch()
        desk.until(lambda: os.statvfs(disk).f_bavail == 0)
        with pytest.raises(Unavailable, match="disk full: 0 MiB free"):
            submit_again(desk, name)
        if crashed:
            desk.service.kill()
            desk.service.start()
        # A server that starts takes some of the reserve, of which the program takes what is left.
        desk.until(lambda: trouble(desk).startswith("disk full: 0 MiB free; "))
        with desk.client() as client:
            assert str(client.health()["trouble"]).startswith("disk full: 0 MiB free; ")
            client.cancel(name)
        desk.wait_for(name, State.CANCELLED)
        with desk.client() as client:
            assert "DISK_FULL" in [event.kind for event in client.events(name)]
        desk.until(lambda: leftovers(desk) == [])
        assert desk.messages(name)[0] == "begun"
        desk.until(lambda: "disk full: " in desk.service.log.read_text())
        (desk.out(name) / "much").unlink()
        desk.until(lambda: trouble(desk) == "")


def test_one_that_fills_it_before_its_start_was_told_can_be_cancelled_too(
    desk: Desk, disk: Path
) -> None:
    desk.until(lambda: (disk / "reserve").exists())
    name = desk.submit(HASTY)
    desk.until(lambda: os.statvfs(disk).f_bavail == 0)
    with desk.client() as client:
        client.cancel(name)
    desk.wait_for(name, State.CANCELLED)
    desk.until(lambda: leftovers(desk) == [])
    assert desk.messages(name)[0] == "begun"


EATER = """
with open("/tmp/much", "wb", buffering=0) as file:
    while True:
        file.write(bytes(1 << 16))
"""


def test_a_program_that_fills_its_tmp_says_so_and_gives_it_back(desk: Desk, disk: Path) -> None:
    name = desk.submit(EATER)
    job = desk.wait_for(name, State.FAILED)
    assert "OSError: [Errno 28] No space left on device" in job.error_message
    desk.until(lambda: leftovers(desk) == [])

    other = desk.submit("open('/tmp/much', 'wb').write(bytes(8 << 20))")
    desk.wait_for(other, State.SUCCEEDED)


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


def test_a_search_waits_for_room(desk: Desk, disk: Path) -> None:
    """Its programs know how to wait; what else there is of it has to."""
    name = desk.submit(PATIENT, hyperparameters=search(TRIALS, 2))
    desk.out(name).mkdir(parents=True, exist_ok=True)
    desk.until(lambda: len(starts(desk, name)) == 2)
    (desk.out(name) / "go").touch()
    fill(disk)
    for _ in range(20):
        fill(disk)
        assert not desk.job(name).state.terminal
    assert desk.service.alive
    (disk / "ballast").unlink()

    desk.wait_for(name, State.SUCCEEDED)
    numbers = list(range(1, TRIALS + 1))
    found = trials(desk, name)
    ends = [(trial.number, trial.state) for trial in found]
    assert ends == [(number, "SUCCEEDED") for number in numbers], found
    assert {number: len(said) for number, said in starts(desk, name).items()} == {
        str(number): 1 for number in numbers
    }
    for number in numbers:
        assert [point.step for point in curve(desk, name, number)][-1:] == [2]
    desk.until(lambda: leftovers(desk) == [])
