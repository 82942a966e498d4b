"""Which Python interpreters a machine has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from footplate.server.job_services import MachineInterpreters

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    clock = [0.0]
    variables = {"PATH": os.devnull, "HOME": str(tmp_path), "UV_OFFLINE": "1"}
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho called >> $HOME/calls\nexit 1\n")
    uv.chmod(0o755)
    link = tmp_path / "python"
    machine = MachineInterpreters(
        [str(link)],
        tmp_path / "cache",
        str(uv),
        {HERE, "2.6", "3.99"},
        variables,
        now=lambda: clock[0],
    )
    said = machine.fault("3.99")
    assert said is not None
    assert said.startswith("this machine has no Python interpreter for runtimes; install Python 3.")
    link.symlink_to(Path(sys.executable).resolve())
    assert machine.fault(HERE) is not None  # believed for a while
    clock[0] = 11.0
    assert machine.fault(HERE) is None
    assert (machine.fault("3.99") or "").startswith(
        f"this machine has only {HERE}; install Python 3.99 "
    )
    link.unlink()
    assert machine.fault(HERE) is None  # the interpreter behind the link is there still
