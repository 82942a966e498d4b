"""The server dies in the middle of a job: nobody notices."""

from __future__ import annotations

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.faults import FaultInjector
from tests.e2e.service.conftest import Context

COUNTER = """
import pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1].replace("gs://", "/gcs/"))
for number in range(1_000_000):
    print("line", number, flush=True)
    if (out / "enough").exists():
        break
    time.sleep(0.002)
print("the end", number, flush=True)
(out / "done").write_text(str(number))
"""


def check(context: Context, name: TrainingJobName) -> None:
    """Every line is there, once, in order."""
    last = int((context.out(name) / "done").read_text())
    expected = [f"line {number}" for number in range(last + 1)]
    assert context.messages(name) == [*expected, f"the end {last}"]


def running(context: Context) -> TrainingJobName:
    name = context.submit(COUNTER)
    context.wait_for(name, State.RUNNING)
    context.until(lambda: len(context.messages(name)) > 20)
    return name


@pytest.mark.usefixtures("started_services")
def test_four_deaths_in_a_row(context: Context) -> None:
    name = running(context)

    for _ in range(4):
        seen = len(context.messages(name))
        context.service.kill()
        context.service.start()
        assert context.job(name).state is State.RUNNING
        context.until(lambda seen=seen: len(context.messages(name)) > seen)  # type: ignore[misc]

    (context.out(name) / "enough").touch()
    context.wait_for(name, State.SUCCEEDED)
    check(context, name)


def test_deaths_one_after_another_before_the_server_is_up(context: Context) -> None:
    name = running(context)
    context.service.kill()
    for _ in range(3):
        context.service.start()
        context.service.kill()
    context.service.start()

    (context.out(name) / "enough").touch()
    context.wait_for(name, State.SUCCEEDED)
    check(context, name)


def test_the_program_ends_while_the_server_is_away(context: Context) -> None:
    name = running(context)
    context.service.kill()
    (context.out(name) / "enough").touch()
    context.until((context.out(name) / "done").exists)
    context.service.start()

    context.wait_for(name, State.SUCCEEDED)
    check(context, name)


def test_jobs_that_wait_are_taken_up_too(context: Context) -> None:
    names = [context.submit("print('hello')") for _ in range(3)]
    context.service.kill()
    context.service.start()

    for name in names:
        context.wait_for(name, State.SUCCEEDED)
        assert context.messages(name) == ["hello"]


def test_a_lost_machine_means_a_restart(shared: Context) -> None:
    name = running(shared)
    with FaultInjector(shared.service) as faults:
        faults.stop_machine("master-replica-0", job=str(name)).wait()

    shared.until(lambda: shared.lines(name)[-1].restart == 1)
    (shared.out(name) / "enough").touch()
    shared.wait_for(name, State.SUCCEEDED)

    lines = shared.lines(name)
    first = [line.message for line in lines if line.restart == 0]
    assert first == [f"line {number}" for number in range(len(first))]
    assert next(line.message for line in lines if line.restart == 1) == "line 0"
    with shared.client() as client:
        kinds = [event.kind for event in client.events(name)]
    assert kinds.count("SUPERVISOR_LOST") == 1
    assert kinds.count("RESTART") == 1
