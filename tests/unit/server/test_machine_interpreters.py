"""Which Python interpreters a machine has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from footplate.server.job_services import MachineInterpreters

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def make_uv(folder: Path) -> str:
    """A uv that finds nothing."""
    uv = folder / "uv"
    uv.write_text("#!/bin/sh\nexit 1\n")
    uv.chmod(0o755)
    return str(uv)


def test_the_interpreter_of_the_service_counts(tmp_path: Path) -> None:
    """In an environment that nobody activated, of a Python that isn't on PATH."""
    variables = {"PATH": os.devnull, "HOME": str(tmp_path), "UV_OFFLINE": "1"}
    uv = make_uv(tmp_path)
    machine = MachineInterpreters([], tmp_path / "cache", uv, {HERE}, variables)

    assert machine.fault(HERE) is None


def test_what_is_there_and_what_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "elsewhere"))
    clock = [0.0]
    variables = {"PATH": os.devnull, "HOME": str(tmp_path), "UV_OFFLINE": "1"}
    uv = make_uv(tmp_path)
    link = tmp_path / "python"
    machine = MachineInterpreters(
        [str(link)],
        tmp_path / "cache",
        uv,
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
