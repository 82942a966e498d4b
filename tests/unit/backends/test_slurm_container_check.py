"""What a check says of the container engines of Slurm's nodes."""

from __future__ import annotations

import json
import subprocess
import sys

from footplate.backends.engine.engine import EngineUnavailable
from footplate.backends.slurm.container_check import (
    AGE_S,
    ContainerCheck,
    make_program,
    read_answer,
)
from footplate.ports.engines import EngineReport

UP = EngineReport(reachable=True, facts=("slurm 22.05",))
HAS = json.dumps({"node": "n1", "socket": "/run/podman/podman.sock", "fault": ""})


class Node:
    def __init__(self, *answers: str | Exception) -> None:
        self.answers = list(answers)

    def __call__(self, program: bytes) -> str:
        assert b"report(" in program
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_node_is_asked_again_after_minutes() -> None:
    now = [0.0]
    lacks = json.dumps({"node": "n1", "socket": "", "fault": "there is no container engine"})
    check = ContainerCheck(Node(HAS, lacks), "", lambda: now[0])
    fact = "containers: node n1 has a container engine at /run/podman/podman.sock"
    assert check.extend(UP) == EngineReport(reachable=True, facts=(*UP.facts, fact))
    assert check.extend(UP).problems == ()
    now[0] = AGE_S
    assert check.extend(UP).problems == ("containers: there is no container engine",)


def test_what_is_down_or_busy_is_no_fault_of_containers() -> None:
    check = ContainerCheck(Node(EngineUnavailable("Immediate execution impossible")), "", lambda: 0)
    down = EngineReport(reachable=False, problems=("Slurm does not answer",))
    assert check.extend(down) == down
    busy = check.extend(UP)
    assert busy.problems == ()
    assert "no node was free" in busy.facts[-1]


def test_answers_without_sense_are_shown() -> None:
    assert (
        read_answer("")[1] == "containers: the check on a node printed '', which isn't its result"
    )
    refused = json.dumps({"node": "n1", "socket": "/x.sock", "fault": "Connection refused"})
    assert read_answer(refused)[1] == (
        "containers: node n1 can't use its container engine at /x.sock: Connection refused"
    )


def test_the_program_runs_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-"],
        input=make_program("/nowhere/engine.sock"),
        capture_output=True,
        check=True,
    )
    assert "/nowhere/engine.sock is missing" in read_answer(done.stdout.decode())[1]
