"""The disk of a service is full: nothing is lost, and all goes on when there is room again."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from tests.e2e.service.conftest import CACHE, Desk
from tests.e2e.service.searching import REPORTER, curve, leftovers, search, starts, trials
from tests.e2e.service.test_fault_injector import MASTER, PAIR, TALKER, WORKER

from footplate.domain.errors import Unavailable
from footplate.domain.states import State
from footplate.testing.service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("service"),
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounting needs root"),
]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 32 MiB of its own."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "footplate-test", str(path)]
    subprocess.run(mount, check=True)
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


@pytest.fixture
def desk(disk: Path) -> Iterator[Desk]:
    with running_service(disk, CACHE, stop_grace_s=1) as service:
        yield Desk(service)


def fill(disk: Path) -> None:
    """To the last page; again, what has become free meanwhile."""
    with (disk / "ballast").open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 16)):
            pass


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
    assert [(t.number, t.state) for t in trials(desk, name)] == [(n, "SUCCEEDED") for n in numbers]
    assert {number: len(said) for number, said in starts(desk, name).items()} == {
        str(number): 1 for number in numbers
    }
    for number in numbers:
        assert [point.step for point in curve(desk, name, number)][-1:] == [2]
    desk.until(lambda: leftovers(desk) == [])
