"""What a check says of the container engines of Slurm's nodes."""

from __future__ import annotations

import json
import subprocess
import sys

from footplate.backends.slurm.container_check import make_program, read_answer


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
        input=make_program("/nowhere/engine.sock").encode(),
        capture_output=True,
        check=True,
    )
    assert "/nowhere/engine.sock is missing" in read_answer(done.stdout.decode())[1]
