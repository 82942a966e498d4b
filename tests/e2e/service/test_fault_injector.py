"""Faults for real jobs: they hit whom they are meant for, and when; and say why if they don't."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from footplate.domain.states import State
from footplate.testing import FaultInjector, running_service
from footplate.testing.faults.processes import find_everything
from tests.e2e.service.conftest import CACHE, Desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from footplate.domain.names import TrainingJobName

MASTER = "master-replica-0"
WORKER = "worker-replica-0"
TALKER = """
import pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1])
number = 0
while not (out / "enough").exists():
    number += 1
    print("line", number, flush=True)
    time.sleep(0.01)
"""
PAIR = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "workerType": "n1-standard-4",
    "workerCount": "1",
}


@pytest.fixture(params=["cgroup", "namespace", "subreaper", "best-effort"])
def caged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    if os.geteuid() != 0 and request.param == "cgroup" and not os.environ.get("CI"):
        pytest.skip("control groups need root here")
    settings = {"stop_grace_s": 1, "isolation": request.param}
    with running_service(tmp_path / "data", CACHE, **settings) as service:
        yield Desk(service)


def starts(desk: Desk, name: TrainingJobName, replica: str) -> int:
    """How often the program of the replica has begun, as far as it has said so."""
    lines = desk.lines(name)
    return sum(line.replica == replica and line.message == "line 1" for line in lines)


def finish(desk: Desk, name: TrainingJobName) -> None:
    (desk.out(name) / "enough").touch()
    desk.wait_for(name, State.SUCCEEDED)


def told(desk: Desk, name: TrainingJobName) -> str:
    with desk.client() as client:
        return "\n".join(f"{event.kind} {event.message}" for event in client.events(name))


def test_a_killed_program_starts_again_on_every_rung(caged: Desk) -> None:
    with FaultInjector(caged.service) as faults:
        fault = faults.kill(MASTER, after_lines=50)
        name = caged.submit(TALKER)
        fault.wait()
        caged.until(lambda: starts(caged, name, MASTER) == 2)
        finish(caged, name)

    printed = caged.messages(name)
    assert printed[:50] == [f"line {number}" for number in range(1, 51)]
    assert f"replica {MASTER} was killed by signal 9" in told(caged, name)
    assert "SUPERVISOR_LOST" not in told(caged, name)


def test_a_lost_machine_takes_its_program_with_it_on_every_rung(caged: Desk) -> None:
    with FaultInjector(caged.service) as faults:
        name = caged.submit(TALKER)
        caged.until(lambda: starts(caged, name, MASTER) == 1)
        (home,) = caged.service.data_dir.glob(f"replicas/*/{MASTER}")
        faults.stop_machine(MASTER, job=name.job_id).wait()
        assert find_everything(home) == []
        caged.until(lambda: starts(caged, name, MASTER) == 2)
        finish(caged, name)

    assert f"replica {MASTER} was lost" in told(caged, name)


def test_a_frozen_program_stands_still_until_it_is_thawed(caged: Desk) -> None:
    with FaultInjector(caged.service) as faults:
        fault = faults.freeze(MASTER, after_s=0.1)
        name = caged.submit(TALKER)
        fault.wait()
        (caged.out(name) / "enough").touch()
        assert caged.job(name).state is State.RUNNING
        faults.thaw(MASTER)
        caged.wait_for(name, State.SUCCEEDED)

    assert starts(caged, name, MASTER) == 1


def test_the_signal_is_for_the_replica_that_is_named_and_as_often_as_is_said(desk: Desk) -> None:
    with FaultInjector(desk.service) as faults:
        fault = faults.kill(WORKER, signal=signal.SIGTERM, after_lines=3, times=2)
        name = desk.submit(TALKER, **PAIR)
        desk.until(lambda: starts(desk, name, WORKER) == 3)
        finish(desk, name)
        assert fault.fired == 2

    assert f"replica {WORKER} was killed by signal 15" in told(desk, name)
    assert f"replica {MASTER} was killed" not in told(desk, name)


def test_a_signal_of_the_programs_own_is_a_failure(desk: Desk) -> None:
    with FaultInjector(desk.service) as faults:
        faults.kill(MASTER, signal=signal.SIGSEGV)
        name = desk.submit(TALKER)
        job = desk.wait_for(name, State.FAILED)

    assert (
        job.error_message == f"replica {MASTER} was killed by signal 11 (SIGSEGV), its own doing: "
        "it touched memory that isn't its own"
    )


def test_a_fault_for_a_job_leaves_others_alone(desk: Desk) -> None:
    bystander = desk.submit(TALKER)
    desk.wait_for(bystander, State.RUNNING)
    with FaultInjector(desk.service.url) as by_url, FaultInjector(desk.service.data_dir) as by_dir:
        by_url.kill(MASTER, job="job_3", signal=signal.SIGABRT)
        by_dir.kill(MASTER, signal=signal.SIGSEGV)
        victim = desk.submit(TALKER)
        later = desk.submit(TALKER)
        assert "signal 11" in desk.wait_for(victim, State.FAILED).error_message
        assert "signal 6" in desk.wait_for(later, State.FAILED).error_message

    finish(desk, bystander)
    assert starts(desk, bystander, MASTER) == 1


def test_what_has_not_happened_is_told_with_its_reason(desk: Desk) -> None:
    faults = FaultInjector(desk.service)
    nobody = faults.kill("worker-replica-7")
    silent = faults.kill(MASTER, after_lines=50)
    name = desk.submit("print('one')")
    desk.wait_for(name, State.SUCCEEDED)

    with pytest.raises(AssertionError, match=f"no replica 'worker-replica-7'; it has: {MASTER}"):
        nobody.wait()
    with pytest.raises(AssertionError, match="ended before, SUCCEEDED; the replica printed 1 line"):
        silent.wait()
    never = faults.stop_machine(MASTER, job="job_9")
    with pytest.raises(AssertionError) as told, faults:
        pass
    for fault in (nobody, silent, never):
        assert f"{fault} didn't happen: " in str(told.value)


def test_a_running_job_without_such_a_replica_is_told_at_once(desk: Desk) -> None:
    name = desk.submit(TALKER)
    desk.wait_for(name, State.RUNNING)
    faults = FaultInjector(desk.service)
    with pytest.raises(ValueError, match=f"no replica 'chief'; it has: {MASTER}"):
        faults.kill("chief", job=str(name))
    finish(desk, name)


def test_a_failing_test_fails_for_its_own_reason(desk: Desk) -> None:
    faults = FaultInjector(desk.service)
    faults.kill(MASTER)

    faults.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    with pytest.raises(AssertionError, match="no job has started since"):
        faults.__exit__(None, None, None)
