"""What a program can see of, and do to, the other processes of its user.

A ``kill -9 -1`` outside a process namespace would end all that runs on this machine. Programs here
first compare their namespace with the tests' own, and end where it is the same.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.supervisor_process import Supervised, python_task, wait_until

Make = Callable[..., Supervised]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs process namespaces")

enclosing = pytest.mark.parametrize("containment_mode", ["cgroup", "namespace"], indirect=True)
"""The containment modes that keep programs from others."""
in_groups = pytest.mark.parametrize("containment_mode", ["cgroup"], indirect=True)
GUARD = """
import json, os, signal, sys, time
host, sentinel = sys.argv[1:]
if os.readlink("/proc/self/ns/pid") == host or os.getppid() != 1:
    sys.exit("it has no process namespace of its own")
"""
LOOK = f"""{GUARD}
try:
    os.kill(int(sentinel), signal.SIGTERM)
except OSError as error:
    told = error.strerror
seen = sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
print(json.dumps([told, seen == [1, os.getpid()]]))
"""
RAMPAGE = f"""{GUARD}
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
os.kill(-1, signal.SIGKILL)
print(json.dumps([os.wait()[1] for _ in range(3)]))
sys.exit(7)
"""
STUBBORN = f"""{GUARD}
signal.signal(signal.SIGTERM, lambda *_: print("told to end", flush=True))
print("up", flush=True)
while True:
    time.sleep(600)
"""
MOVER = f"""{GUARD}
while not os.path.exists("groups"):
    time.sleep(0.01)
for group in json.load(open("groups")):
    with open(os.path.join(os.path.dirname(group), "cgroup.procs"), "w") as file:
        file.write("0")
if os.fork() == 0:
    os.setsid()
    time.sleep(600)
print("away", flush=True)
"""


@pytest.fixture
def sentinel() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    yield process
    process.kill()
    process.wait()


@pytest.fixture
def enclosed(
    make_replica: Make, containment_mode: str, sentinel: subprocess.Popen[bytes]
) -> Callable[..., Supervised]:
    def make(source: str, **fields: Any) -> Supervised:
        host = os.readlink("/proc/self/ns/pid")  # noqa: PTH115  it leads to no file
        task = python_task(source, host, str(sentinel.pid), **fields)
        return make_replica(task, isolation=containment_mode)

    return make


@enclosing
def test_a_program_sees_and_signals_no_other(
    enclosed: Callable[..., Supervised], sentinel: subprocess.Popen[bytes]
) -> None:
    replica = enclosed(LOOK)
    assert replica.supervise()["code"] == 0, replica.api.lines("stderr")
    assert json.loads(replica.api.lines()[0]) == ["No such process", True]
    assert sentinel.poll() is None


@enclosing
def test_programs_of_one_host_have_different_numbers(enclosed: Callable[..., Supervised]) -> None:
    """They share a host's name, and torchrun tells its nodes apart by both."""
    replicas = [enclosed(f"{GUARD}print(os.getpid())") for _ in range(2)]
    assert [each.supervise()["code"] for each in replicas] == [0, 0]
    numbers = [each.api.lines() for each in replicas]
    assert numbers[0] != numbers[1], numbers


@enclosing
def test_killing_all_there_is_ends_nothing_but_its_own(
    enclosed: Callable[..., Supervised], sentinel: subprocess.Popen[bytes]
) -> None:
    replica = enclosed(RAMPAGE)
    end = replica.supervise()
    assert (end["kind"], end["code"]) == ("EXITED", 7), replica.api.lines("stderr")
    assert json.loads(replica.api.lines()[0]) == [signal.SIGKILL] * 3
    assert sentinel.poll() is None


@enclosing
def test_who_minds_no_sigterm_is_killed_after_its_grace(
    enclosed: Callable[..., Supervised],
) -> None:
    replica = enclosed(STUBBORN, stop_grace_s=0.3)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["up"])
    replica.process.send_signal(signal.SIGTERM)
    assert replica.finish()["kind"] == "STOPPED"
    assert replica.api.lines() == ["up", "told to end"]


@enclosing
def test_a_program_whose_supervisor_is_killed_ends_at_once(
    enclosed: Callable[..., Supervised],
) -> None:
    replica = enclosed(STUBBORN)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["up"])
    record = json.loads((replica.home / "isolation.json").read_text())
    replica.process.kill()
    wait_until(lambda: not os.path.exists(f"/proc/{record['init']}"), "the kernel")  # noqa: PTH110


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave a group")
@in_groups
def test_who_leaves_its_control_group_ends_with_its_namespace(
    enclosed: Callable[..., Supervised],
) -> None:
    replica = enclosed(MOVER)
    replica.api.start()
    replica.run()
    wait_until(lambda: "init" in read_record(replica), "the program")
    record = read_record(replica)
    (replica.home / "work" / "groups.part").write_text(json.dumps(record["groups"]))
    (replica.home / "work" / "groups.part").rename(replica.home / "work" / "groups")
    assert replica.finish()["code"] == 0, replica.api.lines("stderr")
    assert replica.api.lines() == ["away"]
    assert not os.path.exists(f"/proc/{record['init']}")  # noqa: PTH110


def read_record(replica: Supervised) -> dict[str, Any]:
    path = replica.home / "isolation.json"
    return json.loads(path.read_text()) if path.exists() else {}
