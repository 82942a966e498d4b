"""The command line of a program."""

from __future__ import annotations

import subprocess
from pathlib import Path

from footplate.protocol.task import PythonTask, Task
from footplate.replica.program_spec import compose_argv


def test_a_module() -> None:
    task = Task(PythonTask("trainer.task", ("--x", "1")))
    assert compose_argv(task, "/e/python") == [*("/e/python", "-m", "trainer.task", "--x", "1")]


def test_a_command_is_found_on_the_programs_own_path(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text('#!/bin/sh\necho "$@"\n')
    tool.chmod(0o755)
    program = PythonTask(command=("tool", "a b", "$X"), args=("*",))
    argv = compose_argv(Task(program), "/e/python")
    said = subprocess.run(argv, env={"PATH": str(tmp_path)}, check=True, capture_output=True)
    assert said.stdout == b"a b $X *\n"
