"""The archive runs under each Python from 3.8 on, small and soon ready."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.interpreters import find_interpreters, version_of
from tests.support.supervisor_process import Supervised, python_task

Make = Callable[..., Supervised]

MEMORY_LIMIT_KB = 15 * 1024
HEAVY = {"argparse", "ctypes", "dataclasses", "http", "inspect", "logging", "random", "subprocess"}
"""Modules that the long-lived process must do without; so must typing, in our own code."""


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
def test_a_replica_under_each_python(
    make_replica: Make, python: str, containment_mode: str
) -> None:
    code = "for i in range(1000): print(i)\nraise ValueError('bad')"
    task = python_task(code, usage_s=0.01, hang_s=0.01)
    task["program"]["argv"][0] = python
    replica = make_replica(task, python=python, isolation=containment_mode)
    end = replica.supervise()
    if end["kind"] == "UNPREPARED":
        assert "ctypes" in end["cause"], "only a Python built without it has an excuse"
        return
    assert (end["kind"], end["code"]) == ("EXITED", 1)
    assert end["cause"] == "ValueError: bad (at <string>:2 in <module>)"
    assert replica.api.lines() == [str(i) for i in range(1000)]


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
def test_a_replica_of_a_gang_under_each_python(make_replica: Make, python: str) -> None:
    replica = make_replica(python_task("print('on')", gathering_s=600.0), python=python)
    replica.api.awaited = ["worker-replica-1"]
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.questions > 1)
    replica.api.awaited = []
    end = replica.finish()
    assert end["kind"] == "EXITED", str(end)
    assert replica.api.lines() == ["on"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_while_a_program_prints(make_replica: Make, containment_mode: str) -> None:
    """Resident at most, with a busy pipe and delivery; says how much."""
    code = "for i in range(100_000): print('a line of the usual length, number', i)"
    waiting = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)"
    task = python_task(f"{code}\n{waiting}", usage_s=0.1, hang_s=0.1)
    replica = make_replica(task, isolation=containment_mode)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: len(replica.api.lines()) == 100_000)
    status = Path(f"/proc/{replica.process.pid}/status").read_text()
    (replica.home / "work" / "go").touch()
    replica.finish()
    resident_kb, highest_kb = (
        int(line.split()[1])
        for name in ("VmRSS:", "VmHWM:")
        for line in status.splitlines()
        if line.startswith(name)
    )
    print(f"{containment_mode}: resident {resident_kb} kB, at most {highest_kb} kB")
    assert highest_kb < MEMORY_LIMIT_KB


def test_the_long_lived_process_imports_nothing_heavy(archive: Path) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); import footplate.replica.run"
    code += "; import footplate.replica.rendezvous"
    command = [sys.executable, "-I", "-S", "-c", f"{code}; print(*sys.modules)", str(archive)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
