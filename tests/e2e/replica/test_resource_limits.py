"""A replica gets no more than its machine type has, where control groups can see to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.replica.conftest import STRICT
from tests.support.supervisor_process import Supervised, python_task

Make = Callable[..., Supervised]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="control groups are Linux's")

SMALL = {"machine_type": "small", "vcpus": 1, "memory_mb": 192}
HELD = "at most 0.19 GB of memory and 1 vCPU, as small has; at most 1536 processes"
GREEDY = "x = bytearray(400_000_000); print('survived')"


@pytest.fixture
def make_limited(make_replica: Make) -> Make:
    """Makes replicas in groups that really limit them."""
    probe = make_replica(python_task("", allotment=SMALL), isolation="cgroup")
    end = probe.supervise()
    told = probe.api.events("LIMITS")
    if told != [HELD]:
        assert not STRICT, (end, told)
        pytest.skip(f"no limits here: {told or end['cause']}")

    def make(code: str, **fields: Any) -> Supervised:
        return make_replica(python_task(code, allotment=SMALL, **fields), isolation="cgroup")

    return make


def test_more_memory_than_the_machine_has_ends_the_program(make_limited: Make) -> None:
    end = make_limited(GREEDY).supervise()
    assert (end["kind"], end["code"]) == ("OUT_OF_MEMORY", 9)
    assert end["cause"] == (
        "the kernel killed the program: out of memory; machine type small has 0.19 GB"
    )
    assert end["advice"].endswith("a machine type with more memory")


def test_a_child_that_is_killed_is_told_of(make_limited: Make) -> None:
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GREEDY!r}], check=True)"
    end = make_limited(code).supervise()
    assert (end["kind"], end["code"]) == ("EXITED", 1)
    assert end["cause"].startswith("subprocess.CalledProcessError")
    assert "the kernel killed a process of the program: out of memory" in end["cause"]
    assert "machine type small has 0.19 GB" in end["cause"]
    assert end["advice"].startswith("The program ran out of memory")
    assert "machine type small" not in end["advice"]  # the cause has said that


def test_what_fits_runs(make_limited: Make) -> None:
    replica = make_limited("x = bytearray(50_000_000); print('survived')")
    assert (replica.supervise()["kind"], replica.api.lines()) == ("EXITED", ["survived"])


def test_cpus_are_limited(make_limited: Make) -> None:
    replica = make_limited("print('on'); import time; time.sleep(600)")
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["on"])
    groups = json.loads((replica.home / "isolation.json").read_text())["groups"]
    bounds = [
        path.read_text().split()[0]
        for group in groups
        for path in (Path(group, "cpu.max"), Path(group, "cpu.cfs_quota_us"))
        if path.exists()
    ]
    assert bounds == ["100000"]
    replica.process.terminate()
    replica.finish()
    assert not [group for group in groups if Path(group).exists()]


BOMB = """
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
"""
AMPLE = {**SMALL, "memory_mb": 4096}


def test_more_processes_than_the_limit_fail(make_replica: Make, make_limited: Make) -> None:
    assert make_limited("").supervise()["code"] == 0
    end = make_replica(python_task(BOMB, allotment=AMPLE), isolation="cgroup").supervise()
    assert (end["kind"], end["code"]) == ("EXITED", 1)
    assert end["cause"] == (
        "RuntimeError: can't start new thread (at <string>:4 in <module>) "
        "(the kernel refused the program one more process once; its limit is 1536: "
        "1024 and 512 for its vCPU)"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="is about what root starts")
def test_a_user_of_its_own_limits_processes_without_control_groups(make_replica: Make) -> None:
    task = python_task(BOMB, allotment=AMPLE)
    replica = make_replica(task, isolation="namespace", program_users=[1879048192, 2147352575])
    end = replica.supervise()
    if end["kind"] == "UNPREPARED" and not STRICT:
        pytest.skip(end["cause"])
    assert replica.api.events("LIMITS")[0].startswith("at most 1536 processes; not limited to")
    assert end["code"] == 1
    assert "the kernel refused the program more processes; its limit is 1536" in end["cause"]


FILL = """
import os, time
with open("model", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, 1100 << 20)
print("written", flush=True)
time.sleep(600)
"""


def test_more_disk_than_the_machine_has_ends_the_program(
    make_replica: Make, containment_mode: str
) -> None:
    """Where the disk of this machine holds less than the limit, nothing is measured."""
    task = python_task(FILL, allotment={**SMALL, "disk_gb": 1})
    replica = make_replica(task, isolation=containment_mode)
    if shutil.disk_usage(replica.home).free < 4 << 30:
        pytest.skip("this disk is nearly full")
    end = replica.supervise()
    assert (end["kind"], end["code"]) == ("OUT_OF_DISK", 0)
    assert re.fullmatch(
        r"the program used 1\.[0-9]+ GB of disk; its limit, bootDiskSizeGb, is 1 GB", end["cause"]
    )
    assert "1 GB of disk (bootDiskSizeGb)" in replica.api.events("LIMITS")[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs users of their own")
def test_what_is_written_into_the_root_directory_counts(make_replica: Make) -> None:
    task = python_task(FILL.replace("model", "/filled"), allotment={**SMALL, "disk_gb": 1})
    replica = make_replica(task, program_users=[1879048192, 2147352575])
    if shutil.disk_usage(replica.home).free < 4 << 30:
        pytest.skip("this disk is nearly full")
    end = replica.supervise()
    if replica.api.events("ISOLATION")[1:]:
        pytest.skip(replica.api.events("ISOLATION")[1])
    assert end["kind"] == "OUT_OF_DISK"


def test_a_containment_mode_that_cannot_limit_says_so(make_replica: Make) -> None:
    replica = make_replica(python_task(GREEDY, allotment=SMALL), isolation="best-effort")
    assert replica.supervise()["kind"] == "EXITED"
    assert replica.api.events("LIMITS") == [
        (
            "not limited to the size of small: memory: mode best-effort can't, "
            "CPU: mode best-effort can't, processes: mode best-effort can't"
        )
    ]


def test_an_allotment_that_is_none_is_refused(make_replica: Make) -> None:
    wrong: list[object] = [{}, [], {**SMALL, "vcpus": None}]
    for allotment in wrong:
        end = make_replica(python_task("", allotment=allotment)).supervise()
        assert end["kind"] == "UNPREPARED"
        assert "can't get its task from the server: allotment" in end["cause"]


def test_programs_go_before_their_supervisor_when_memory_runs_out(
    make_replica: Make, containment_mode: str
) -> None:
    code = "import os; print(open('/proc/self/oom_score_adj').read())"
    replica = make_replica(python_task(code), isolation=containment_mode)
    assert replica.supervise()["kind"] == "EXITED"
    own = int(Path("/proc/self/oom_score_adj").read_text())
    assert int(replica.api.lines()[0]) == min(1000, own + 500)
