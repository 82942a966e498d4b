"""What a check says of the container engines of Slurm's nodes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.backends.slurm.container_check import make_program, read_answer


def test_a_command_is_named_with_its_version() -> None:
    found = {"node": "n1", "socket": "/usr/bin/apptainer", "fault": "", "version": "apptainer 1"}
    fact = "containers: node n1 has apptainer 1 at /usr/bin/apptainer"
    assert read_answer(json.dumps(found)) == (fact, "")


def test_answers_without_sense_are_shown() -> None:
    assert (
        read_answer("")[1] == "containers: the check on a node printed '', which isn't its result"
    )
    refused = json.dumps({"node": "n1", "socket": "/x.sock", "fault": "Connection refused"})
    assert read_answer(refused)[1] == (
        "containers: node n1 can't run images by /x.sock: Connection refused"
    )


def test_the_program_runs_by_itself() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-"],
        input=make_program("/nowhere/engine.sock").encode(),
        capture_output=True,
        check=True,
    )
    assert "/nowhere/engine.sock is missing" in read_answer(done.stdout.decode())[1]


@pytest.mark.parametrize("has", [True, False])
def test_the_program_looks_for_a_command(tmp_path: Path, *, has: bool) -> None:
    if has:
        command = tmp_path / "singularity"
        command.write_text("#!/bin/sh\necho singularity-ce version 4.1.5\n")
        command.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-"],
        input=make_program("apptainer").encode(),
        env={"PATH": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    fact, problem = read_answer(done.stdout.decode())
    assert fact.endswith(f"has singularity-ce version 4.1.5 at {tmp_path}/singularity") == has
    assert ("has no apptainer or singularity in its PATH" in problem) != has
