"""Nothing of a program survives its end, on every containment mode that claims so."""

from __future__ import annotations

import json
import os
import signal
import sys
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.deadlines import EVENT_S
from tests.support.supervisor_process import Supervised, find_living, python_task, wait_until

Make = Callable[..., Supervised]

CLAIMING = {"cgroup", "namespace", "subreaper"}

FAMILY = """
import os, signal, sys, time
word, how, end = sys.argv[1:4]

def linger():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    environment = {} if how == "clean" else dict(os.environ)
    os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", word],
              environment)

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            linger()
        os._exit(0)
if os.fork() == 0:
    linger()
def is_ours(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return word.encode() in file.read()
    except OSError:  # it ended meanwhile
        return False

while sum(is_ours(name) for name in os.listdir("/proc") if name.isdigit()) < 5:
    time.sleep(0.01)
print("all there")
if end == "wait":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
sys.exit(int(end))
"""


@pytest.fixture
def word() -> str:
    return f"footplate-test-{uuid.uuid4().hex}"


@pytest.mark.parametrize("how", ["marked", "clean"])
@pytest.mark.parametrize("end", ["0", "3"])
def test_the_end_of_the_program_ends_all_it_started(
    make_replica: Make, containment_mode: str, word: str, how: str, end: str
) -> None:
    replica = make_replica(python_task(FAMILY, word, how, end), isolation=containment_mode)
    assert replica.supervise()["code"] == int(end)
    assert replica.api.lines() == ["all there"]
    check_and_clear(containment_mode, word)


def test_a_stop_ends_all(make_replica: Make, containment_mode: str, word: str) -> None:
    task = python_task(FAMILY, word, "clean", "wait", stop_grace_s=0.1)
    replica = make_replica(task, isolation=containment_mode)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["all there"])
    replica.process.send_signal(signal.SIGTERM)
    assert replica.finish()["kind"] == "STOPPED"
    check_and_clear(containment_mode, word)


def test_a_sweep_ends_all_after_the_supervisors_death(
    make_replica: Make, containment_mode: str, word: str
) -> None:
    """On the containment mode subreaper those with the mark, which is what it claims then."""
    how = "marked" if containment_mode in ("subreaper", "best-effort") else "clean"
    replica = make_replica(python_task(FAMILY, word, how, "wait"), isolation=containment_mode)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["all there"])
    replica.process.kill()
    replica.process.wait()
    assert replica.sweep() == 0, replica.log()
    assert not find_living(word)
    assert replica.gone == {"reason": "the replica's supervisor died"}
    assert len(replica.api.events("SUPERVISOR_LOST")) == 1
    assert replica.api.exit is None
    assert not replica.api.faults


def test_a_supervisor_in_a_namespace_takes_the_program_along(
    make_replica: Make, containment_mode: str, word: str
) -> None:
    if containment_mode != "namespace":
        return
    replica = make_replica(python_task(FAMILY, word, "clean", "wait"), isolation=containment_mode)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["all there"])
    replica.process.kill()
    wait_until(lambda: not find_living(word), "the kernel")


def test_a_refused_attempt_is_ended(make_replica: Make, containment_mode: str, word: str) -> None:
    task = python_task(FAMILY, word, "clean", "wait", heartbeat_s=0.05)
    replica = make_replica(task, isolation=containment_mode)
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["all there"])
    replica.api.token = "another attempt's"
    assert replica.process.wait(EVENT_S) == 0
    assert "no such job" in (replica.gone or {})["reason"]
    check_and_clear(containment_mode, word)


BOMB = """
import os, sys, time

def wait_until_reaped(process):
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)

for _ in range(200):
    if os.fork() == 0:
        while True:
            parent = os.getpid()
            if os.fork():
                os._exit(0)
            os.setsid()
            wait_until_reaped(parent)
"""
"""The zombies of each child are one at most: where the supervisor waits for a core, thousands took
every process number of the machine, and other tests could not fork."""


def test_children_that_fork_all_the_time_are_caught(
    make_replica: Make, containment_mode: str, word: str
) -> None:
    if containment_mode not in CLAIMING:
        return
    replica = make_replica(python_task(BOMB, word), isolation=containment_mode)
    assert replica.supervise()["code"] == 0
    wait_until(lambda: not find_living(word), "the end of all of them")


HOLDER = """
import os, sys, time
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    os.write(writing, b"x")
    time.sleep(600)
os.read(reading, 1)
print("the program's last line", flush=True)
"""


def test_a_grandchild_that_holds_the_output_open_delays_nothing_for_long(
    make_replica: Make, containment_mode: str, word: str
) -> None:
    replica = make_replica(python_task(HOLDER, word), isolation=containment_mode)
    assert replica.supervise()["code"] == 0
    assert replica.api.lines() == ["the program's last line"]
    assert bool(replica.api.events("LEFTOVERS")) == (containment_mode not in CLAIMING)
    check_and_clear(containment_mode, word)


def test_nothing_is_left_of_the_containment_mode_itself(make_replica: Make) -> None:
    replica = make_replica(python_task(""), isolation="auto")
    replica.supervise()
    record = json.loads((replica.home / "isolation.json").read_text())
    assert not [group for group in record.get("groups", []) if os.path.exists(group)]  # noqa: PTH110


def test_a_sweep_after_a_restart_of_the_machine_kills_nobody(make_replica: Make, word: str) -> None:
    replica = make_replica(python_task(FAMILY, word, "marked", "wait"), isolation="best-effort")
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["all there"])
    replica.process.kill()
    replica.process.wait()
    path = replica.home / "isolation.json"
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "boot": "another"}))
    assert replica.sweep() == 0
    assert len(find_living(word)) == 5
    clear(word)


def check_and_clear(containment_mode: str, word: str) -> None:
    if containment_mode in CLAIMING:
        assert not find_living(word)
    clear(word)


def clear(word: str) -> None:
    for pid in find_living(word):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not find_living(word), "the end of the test's processes")


OUT_OF_MEMORY = "import sys; x = bytearray(300_000_000); print('survived')"


@pytest.mark.skipif(sys.platform != "linux", reason="cgroups are Linux's")
def test_being_out_of_memory_is_recognised_where_a_controller_is(
    make_replica: Make, memory_limit: Callable[[Path], bool]
) -> None:
    code = f"import sys; sys.stdin.read(); input_ = open('go'); {OUT_OF_MEMORY}"
    replica = make_replica(python_task(WAIT_FOR_GO + OUT_OF_MEMORY), isolation="auto")
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["ready"])
    limited = memory_limit(replica.home)
    (replica.home / "work" / "go").touch()
    end = replica.finish()
    if limited:
        assert (end["kind"], end["code"]) == ("OUT_OF_MEMORY", 9), (end, code)
    else:
        assert end["kind"] == "EXITED"


WAIT_FOR_GO = """
import os, time
print("ready")
while not os.path.exists("go"):
    time.sleep(0.01)
"""


@pytest.fixture
def memory_limit() -> Callable[[Path], bool]:
    """Limits the memory of a replica's group, where it has one with a controller."""

    def limit(home: Path) -> bool:
        record = json.loads((home / "isolation.json").read_text())
        for group in record.get("groups", []):
            for name in ("memory.max", "memory.limit_in_bytes"):
                path = f"{group}/{name}"
                if os.access(path, os.W_OK):
                    with open(path, "w") as file:
                        file.write("100000000")
                    return True
        return False

    return limit
