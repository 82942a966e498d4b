"""Control requests for a running replica are seen to by processes beside its program."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.supervisor_process import Supervised, find_living, python_task, wait_until

Make = Callable[..., Supervised]

WAITING = """
import os, time
print("there", flush=True)
while not os.path.exists("end"):
    time.sleep(0.01)
"""


def start(make_replica: Make, **ticket: object) -> tuple[Supervised, Path]:
    """A running program, and the file that ends it."""
    replica = make_replica(python_task(WAITING), **ticket)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["there"])
    return replica, replica.home / "work" / "end"


@pytest.fixture
def slow_tool(tmp_path: Path) -> Path:
    """In the place of py-spy: something that doesn't end, and starts something that doesn't."""
    tool = tmp_path / "slow-tool"
    tool.write_text("#!/bin/sh\nsleep 600 &\nwait\n")
    tool.chmod(0o755)
    return tool


def test_a_control_request_is_answered_while_the_program_runs(make_replica: Make) -> None:
    replica, end = start(make_replica)
    replica.api.control_request({"id": "a1", "kind": "stacks"})
    replica.api.wait_for(lambda: "a1" in replica.api.answers)
    assert replica.api.answers["a1"]["error"].startswith("py-spy, which reads stacks, is not")
    replica.api.control_request({"id": "a2", "kind": "miracles"}, {"id": "../a3", "kind": "stacks"})
    replica.api.wait_for(lambda: "a2" in replica.api.answers)
    assert replica.api.answers["a2"] == {
        "error": "the replica's supervisor does not support control requests of kind miracles"
    }
    end.touch()
    assert replica.finish()["kind"] == "EXITED"
    assert set(replica.api.answers) == {"a1", "a2"}


def test_what_goes_on_for_a_control_request_ends_with_the_program(
    make_replica: Make, slow_tool: Path, containment_mode: str
) -> None:
    replica, end = start(make_replica, py_spy=str(slow_tool), isolation=containment_mode)
    replica.api.control_request({"id": "a1", "kind": "stacks"})
    wait_until(lambda: bool(find_living(str(slow_tool))), "the tool")
    end.touch()
    assert replica.finish()["kind"] == "EXITED"
    wait_until(lambda: not find_living(str(slow_tool)), "its end")
    assert not find_living(f"stacks\0{replica.home}")


def test_what_left_the_session_of_a_control_request_ends_with_the_program(
    make_replica: Make, tmp_path: Path, containment_mode: str
) -> None:
    tool = tmp_path / "tool"
    apart = '[ "$1" = apart ] && sleep 600'
    tool.write_text(f'#!/bin/sh\n{apart}\nsetsid "$0" apart &\nwait\n')
    tool.chmod(0o755)
    replica, end = start(make_replica, py_spy=str(tool), isolation=containment_mode)
    replica.api.control_request({"id": "a1", "kind": "stacks"})
    wait_until(lambda: bool(find_living(f"{tool}\0apart")), "the tool apart")
    end.touch()
    assert replica.finish()["kind"] == "EXITED"
    wait_until(lambda: not find_living(str(tool)), "its end")


def test_only_a_few_are_seen_to_at_once(make_replica: Make, slow_tool: Path) -> None:
    replica, end = start(make_replica, py_spy=str(slow_tool))
    replica.api.control_request(*({"id": f"a{number}", "kind": "stacks"} for number in range(3)))
    replica.api.wait_for(lambda: "a2" in replica.api.answers)
    assert replica.api.answers == {
        "a2": {
            "error": (
                "the replica's supervisor already runs 2 requests of kind stacks; try again later"
            )
        }
    }
    end.touch()
    replica.finish()


def test_a_process_that_dies_without_an_answer_is_told_of(
    make_replica: Make, slow_tool: Path
) -> None:
    replica, end = start(make_replica, py_spy=str(slow_tool), isolation="best-effort")
    replica.api.control_request({"id": "a1", "kind": "stacks"})
    wait_until(lambda: bool(find_living(str(slow_tool))), "the tool")
    for pid in find_living(f"stacks\0{replica.home}"):
        os.kill(pid, signal.SIGKILL)
    replica.api.wait_for(lambda: "a1" in replica.api.answers)
    assert replica.api.answers["a1"] == {
        "error": ("the process for the request was ended by signal 9")
    }
    for pid in find_living(str(slow_tool)):
        os.kill(pid, signal.SIGKILL)
    end.touch()
    replica.finish()


def test_a_server_that_knows_no_control_requests_changes_nothing(make_replica: Make) -> None:
    replica = make_replica(python_task("print(1)"))
    replica.api.refuses_control_requests = True
    assert replica.supervise()["kind"] == "EXITED"
    assert replica.api.lines() == ["1"]


def test_control_requests_are_heard_by_a_server_that_came_back(make_replica: Make) -> None:
    replica, end = start(make_replica)
    replica.api.wait_for(lambda: replica.api.control_request_questions > 0)
    replica.api.stop()
    replica.api.start()
    replica.api.control_request({"id": "a1", "kind": "stacks"})
    replica.api.wait_for(lambda: "a1" in replica.api.answers)
    end.touch()
    assert replica.finish()["kind"] == "EXITED"
