"""Supervisors that make process namespaces themselves, as root's do.

Those of ordinary users leave that to a helper process: see ``isolation.init``.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from footplate.replica.isolation.procfs import find
from tests.e2e.replica.child_processes import BEAR
from tests.support.supervisor_process import Supervised, find_living, python_task, wait_until

Make = Callable[..., Supervised]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="needs root's process namespaces"
)

FAMILY = f"""{BEAR}
bear(2)
while time.process_time() < 0.05:  # more than a tick or two, which are all that some places count
    pass
print("all there", os.getppid())
if sys.argv[2] == "wait":
    time.sleep(600)
sys.exit(int(sys.argv[2]))
"""


@pytest.fixture
def word() -> str:
    return f"footplate-test-{uuid.uuid4().hex}"


@pytest.fixture(params=["cgroup", "namespace"])
def make(make_replica: Make, request: pytest.FixtureRequest) -> Make:
    def make(code: str, *args: str, **options: object) -> Supervised:
        task = python_task(code, *args, usage_s=0.05, stop_grace_s=0.1)
        return make_replica(task, isolation=request.param, loaded=True, **options)

    return make


def init_of(replica: Supervised) -> int:
    record = json.loads((replica.home / "isolation.json").read_text())
    if "init" not in record:
        pytest.skip("no process namespaces here")
    return int(record["init"])


def live(replica: Supervised) -> int:
    """Start it; the number of its init, once all of its program are there."""
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["all there 1"] or bool(replica.api.exit))
    if replica.api.exit is not None and replica.api.exit["kind"] == "UNPREPARED":
        pytest.skip(replica.api.exit["cause"])
    return init_of(replica)


def test_init_is_the_supervisors_own_child(make: Make, word: str) -> None:
    replica = make(FAMILY, word, "wait")
    found = find(live(replica))
    assert found is not None
    assert found.parent == replica.process.pid
    # What it forks otherwise is where it is itself.
    spaces = Path(f"/proc/{replica.process.pid}/ns")
    assert (spaces / "pid").readlink() == (spaces / "pid_for_children").readlink()


@pytest.mark.parametrize("end", ["0", "3"])
def test_the_end_of_the_program_ends_all(make: Make, word: str, end: str) -> None:
    replica = make(FAMILY, word, end)
    exit_record = replica.supervise()
    if exit_record["kind"] == "UNPREPARED":
        pytest.skip(exit_record["cause"])
    assert (exit_record["kind"], exit_record["code"]) == ("EXITED", int(end))
    assert not find_living(word)
    last = [record for record in replica.api.records if record["k"] == "usage"][-1]
    assert last["cpu_s"] > 0


def test_a_stop_ends_all(make: Make, word: str) -> None:
    replica = make(FAMILY, word, "wait")
    live(replica)
    replica.process.send_signal(signal.SIGTERM)
    assert replica.finish()["kind"] == "STOPPED"
    assert not find_living(word)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSEGV])
def test_the_supervisors_death_ends_all_at_once(make: Make, word: str, how: signal.Signals) -> None:
    replica = make(FAMILY, word, "wait")
    init = live(replica)
    replica.process.send_signal(how)
    replica.process.wait()
    wait_until(lambda: not find_living(word), "the kernel")
    wait_until(lambda: not Path(f"/proc/{init}").exists(), "the end of init")
    assert replica.sweep() == 0, replica.log()
    assert len(replica.api.events("SUPERVISOR_LOST")) == 1


def test_the_death_of_init_is_that_of_the_program(make: Make, word: str) -> None:
    replica = make(FAMILY, word, "wait")
    os.kill(live(replica), signal.SIGKILL)
    end = replica.finish()
    assert (end["kind"], end["code"]) == ("SIGNALLED", 9)
    assert not find_living(word)


def test_what_cannot_be_started_leaves_nobody(make: Make) -> None:
    replica = make("")
    replica.api.task["program"]["argv"][0] = "/nowhere/python"
    end = replica.supervise()
    assert end["kind"] == "UNPREPARED"
    assert "/nowhere/python" in end["cause"] or "isolate" in end["cause"]
    assert not find_living(str(replica.home))


BORN = """
import os, sys, time
print(open("/proc/self/cgroup").read().count("footplate-"), os.getpid() == os.getpgrp())
print("all there", os.getppid(), flush=True)
time.sleep(600)
"""


def test_a_program_is_born_in_its_groups_and_init_is_in_none(make_replica: Make) -> None:
    replica = make_replica(python_task(BORN, stop_grace_s=0.1), isolation="cgroup", loaded=True)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: len(replica.api.lines()) == 2 or bool(replica.api.exit))
    if replica.api.exit is not None:
        pytest.skip(replica.api.exit["cause"])
    groups = json.loads((replica.home / "isolation.json").read_text())["groups"]
    assert replica.api.lines() == [f"{len(groups)} True", "all there 1"]
    assert "footplate-" not in Path(f"/proc/{init_of(replica)}/cgroup").read_text()
