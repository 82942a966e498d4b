"""Benchmarks that nobody has run for a while can still be loaded."""

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
SCRIPTS = sorted(FOLDER.glob("*.py"))


def test_they_load() -> None:
    load = "\n".join(f"import {script.stem}" for script in SCRIPTS)
    assert load
    environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
    subprocess.run((sys.executable, "-c", load), env=environment, check=True)


def test_the_list_names_each_that_can_be_run() -> None:
    listed = (FOLDER / "README.md").read_text()
    runnable = [s.name for s in SCRIPTS if "__main__" in s.read_text()]
    assert runnable
    assert [name for name in runnable if f"benchmarks/{name} " not in listed] == []
