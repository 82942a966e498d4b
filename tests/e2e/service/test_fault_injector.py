"""Faults for real jobs: they hit whom they are meant for, and when; and say why if they don't."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing import FaultInjector
from footplate.testing.faults.processes import find_everything
from tests.e2e.service.conftest import Context, SharedServices

MASTER = "master-replica-0"
WORKER = "worker-replica-0"
TALKER = """
import pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
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
def contained(request: pytest.FixtureRequest, shared_services: SharedServices) -> Iterator[Context]:
    if os.geteuid() != 0 and request.param == "cgroup" and not os.environ.get("CI"):
        pytest.skip("control groups need root here")
    with shared_services.context(isolation=request.param) as context:
        yield context


def starts(context: Context, name: TrainingJobName, replica: str) -> int:
    """How often the program of the replica has begun, as far as it has said so."""
    lines = context.lines(name)
    return sum(line.replica == replica and line.message == "line 1" for line in lines)


def finish(context: Context, name: TrainingJobName) -> None:
    (context.out(name) / "enough").touch()
    context.wait_for(name, State.SUCCEEDED)


def told(context: Context, name: TrainingJobName) -> str:
    with context.client() as client:
        return "\n".join(f"{event.kind} {event.message}" for event in client.events(name))


def test_a_killed_program_starts_again_on_every_containment_mode(contained: Context) -> None:
    with FaultInjector(contained.service) as faults:
        fault = faults.kill(MASTER, after_lines=50)
        name = contained.submit(TALKER)
        fault.wait()
        contained.until(lambda: starts(contained, name, MASTER) == 2)
        finish(contained, name)

    printed = contained.messages(name)
    assert printed[:50] == [f"line {number}" for number in range(1, 51)]
    assert f"replica {MASTER} was killed by signal 9" in told(contained, name)
    assert "SUPERVISOR_LOST" not in told(contained, name)


def test_a_lost_machine_takes_its_program_with_it_on_every_containment_mode(
    contained: Context,
) -> None:
    with FaultInjector(contained.service) as faults:
        name = contained.submit(TALKER)
        contained.until(lambda: starts(contained, name, MASTER) == 1)
        (home,) = contained.service.data_dir.glob(f"replicas/*/{MASTER}")
        faults.stop_machine(MASTER, job=str(name)).wait()
        assert find_everything(home) == []
        contained.until(lambda: starts(contained, name, MASTER) == 2)
        finish(contained, name)

    assert f"replica {MASTER} was lost" in told(contained, name)


def test_a_frozen_program_stands_still_until_it_is_thawed(contained: Context) -> None:
    with FaultInjector(contained.service) as faults:
        fault = faults.freeze(MASTER, after_s=0.1)
        name = contained.submit(TALKER)
        fault.wait()
        (contained.out(name) / "enough").touch()
        assert contained.job(name).state is State.RUNNING
        faults.thaw(MASTER)
        contained.wait_for(name, State.SUCCEEDED)

    assert starts(contained, name, MASTER) == 1


def test_the_signal_is_for_the_replica_that_is_named_and_as_often_as_is_said(
    shared: Context,
) -> None:
    with FaultInjector(shared.service) as faults:
        fault = faults.kill(WORKER, signal=signal.SIGTERM, after_lines=3, times=2)
        name = shared.submit(TALKER, **PAIR)
        shared.until(lambda: starts(shared, name, WORKER) == 3)
        finish(shared, name)
        assert fault.fired == 2

    assert f"replica {WORKER} was killed by signal 15" in told(shared, name)
    assert f"replica {MASTER} was killed" not in told(shared, name)


def test_a_signal_of_the_programs_own_is_a_failure(shared: Context) -> None:
    with FaultInjector(shared.service) as faults:
        faults.kill(MASTER, signal=signal.SIGSEGV)
        name = shared.submit(TALKER)
        job = shared.wait_for(name, State.FAILED)

    assert job.error_message == (
        f"replica {MASTER} was killed by signal 11 (SIGSEGV), because the program used memory "
        "that isn't its own"
    )


def test_a_fault_for_a_job_leaves_others_alone(shared: Context) -> None:
    bystander = shared.submit(TALKER)
    shared.wait_for(bystander, State.RUNNING)
    with (
        FaultInjector(shared.service.url) as by_url,
        FaultInjector(shared.service.data_dir) as by_dir,
    ):
        later = TrainingJobName(shared.project, f"job_{shared.sent + 2}")
        by_url.kill(MASTER, job=str(later), signal=signal.SIGABRT)
        by_dir.kill(MASTER, signal=signal.SIGSEGV)
        victim = shared.submit(TALKER)
        assert shared.submit(TALKER) == later
        assert "signal 11" in shared.wait_for(victim, State.FAILED).error_message
        assert "signal 6" in shared.wait_for(later, State.FAILED).error_message

    finish(shared, bystander)
    assert starts(shared, bystander, MASTER) == 1


def test_what_has_not_happened_is_told_with_its_reason(shared: Context) -> None:
    faults = FaultInjector(shared.service)
    nobody = faults.kill("worker-replica-7")
    silent = faults.kill(MASTER, after_lines=50)
    name = shared.submit("print('one')")
    shared.wait_for(name, State.SUCCEEDED)

    with pytest.raises(AssertionError, match=f"no replica 'worker-replica-7'; it has: {MASTER}"):
        nobody.wait()
    with pytest.raises(AssertionError, match=r"SUCCEEDED; the replica printed 1 line$"):
        silent.wait()
    never = faults.stop_machine(MASTER, job="job_9")
    with pytest.raises(AssertionError) as told, faults:
        pass
    for fault in (nobody, silent, never):
        assert f"{fault} didn't happen: " in str(told.value)


def test_a_running_job_without_such_a_replica_is_told_at_once(shared: Context) -> None:
    name = shared.submit(TALKER)
    shared.wait_for(name, State.RUNNING)
    faults = FaultInjector(shared.service)
    with pytest.raises(ValueError, match=f"no replica 'chief'; it has: {MASTER}"):
        faults.kill("chief", job=str(name))
    finish(shared, name)


def test_a_failing_test_fails_for_its_own_reason(shared: Context) -> None:
    faults = FaultInjector(shared.service)
    faults.kill(MASTER)

    faults.__exit__(ZeroDivisionError, ZeroDivisionError(), None)
    with pytest.raises(AssertionError, match="no job has started since"):
        faults.__exit__(None, None, None)
