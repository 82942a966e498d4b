"""The server dies in the middle of a job: nobody notices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.states import State
from footplate.testing.faults import FaultInjector

if TYPE_CHECKING:
    from footplate.domain.names import TrainingJobName
    from tests.e2e.service.conftest import Desk

COUNTER = """
import pathlib, sys, time
out = pathlib.Path(sys.argv[sys.argv.index("--job-dir") + 1])
for number in range(1_000_000):
    print("line", number, flush=True)
    if (out / "enough").exists():
        break
    time.sleep(0.002)
print("the end", number, flush=True)
(out / "done").write_text(str(number))
"""


def check(desk: Desk, name: TrainingJobName) -> None:
    """Every line is there, once, in order."""
    last = int((desk.out(name) / "done").read_text())
    expected = [f"line {number}" for number in range(last + 1)]
    assert desk.messages(name) == [*expected, f"the end {last}"]


def running(desk: Desk) -> TrainingJobName:
    name = desk.submit(COUNTER)
    desk.wait_for(name, State.RUNNING)
    desk.until(lambda: len(desk.messages(name)) > 20)
    return name


def test_four_deaths_in_a_row(desk: Desk) -> None:
    name = running(desk)

    for _ in range(4):
        seen = len(desk.messages(name))
        desk.service.kill()
        desk.service.start()
        assert desk.job(name).state is State.RUNNING
        desk.until(lambda seen=seen: len(desk.messages(name)) > seen)  # type: ignore[misc]

    (desk.out(name) / "enough").touch()
    desk.wait_for(name, State.SUCCEEDED)
    check(desk, name)


def test_deaths_one_after_another_before_the_server_is_up(desk: Desk) -> None:
    name = running(desk)
    desk.service.kill()
    for _ in range(3):
        desk.service.start()
        desk.service.kill()
    desk.service.start()

    (desk.out(name) / "enough").touch()
    desk.wait_for(name, State.SUCCEEDED)
    check(desk, name)


def test_the_program_ends_while_the_server_is_away(desk: Desk) -> None:
    name = running(desk)
    desk.service.kill()
    (desk.out(name) / "enough").touch()
    desk.until((desk.out(name) / "done").exists)
    desk.service.start()

    desk.wait_for(name, State.SUCCEEDED)
    check(desk, name)


def test_jobs_that_wait_are_taken_up_too(desk: Desk) -> None:
    names = [desk.submit("print('hello')") for _ in range(3)]
    desk.service.kill()
    desk.service.start()

    for name in names:
        desk.wait_for(name, State.SUCCEEDED)
        assert desk.messages(name) == ["hello"]


def test_a_lost_machine_means_a_restart(desk: Desk) -> None:
    name = running(desk)
    with FaultInjector(desk.service) as faults:
        faults.stop_machine("master-replica-0", job=str(name)).wait()

    desk.until(lambda: desk.lines(name)[-1].restart == 1)
    (desk.out(name) / "enough").touch()
    desk.wait_for(name, State.SUCCEEDED)

    lines = desk.lines(name)
    first = [line.message for line in lines if line.restart == 0]
    assert first == [f"line {number}" for number in range(len(first))]
    assert next(line.message for line in lines if line.restart == 1) == "line 0"
    with desk.client() as client:
        kinds = [event.kind for event in client.events(name)]
    assert kinds.count("SUPERVISOR_LOST") == 1
    assert kinds.count("RESTART") == 1
