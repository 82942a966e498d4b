"""A run of several workers goes on, and ends, when one of them dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.deadlines import EVENT_S

TESTS = """
import os, signal
import pytest

@pytest.mark.parametrize("number", range({before}))
def test_before(number): pass

def test_that_kills():
    with open("killed", "a") as file:
        file.write("once\\n")
    os.kill(os.getpid(), signal.SIGKILL)

@pytest.mark.parametrize("number", range({after}))
def test_after(number): pass
"""


@pytest.mark.parametrize(("before", "after"), [(1, 1), (8, 8)])
def test_all_others_run_once_and_the_one_that_killed_fails(
    tmp_path: Path, before: int, after: int
) -> None:
    (tmp_path / "test_deaths.py").write_text(TESTS.format(before=before, after=after))
    options = ("-c", os.devnull, "--rootdir=.", "-p", "xdist.plugin")
    many = (
        "-p",
        "tests.support.worker_deaths",
        "-n",
        "2",
        "--dist",
        "loadgroup",
        "--no-loadscope-reorder",
    )
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        (sys.executable, "-m", "pytest", "-q", *options, *many),
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=EVENT_S,
        check=False,
    )
    assert f"1 failed, {before + after} passed in" in run.stdout, run.stdout + run.stderr
    assert (tmp_path / "killed").read_text() == "once\n"
