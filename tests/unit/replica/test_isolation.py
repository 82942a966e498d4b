"""The parts of the ladder that the replicas' own tests don't reach."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.backends.local import untrusted_files
from footplate.protocol.isolation_record import IsolationRecord
from footplate.replica.isolation import mode_selection, procfs
from footplate.replica.isolation.cgroup import KINDS, CgroupContainment
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.procfs import MARK_VARIABLE, Process
from footplate.replica.isolation.spawn import Launch, SpawnFailed, fork
from tests.support.deadlines import EVENT_S
from tests.support.supervisor_process import find_living, wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

SLEEP = "import time; time.sleep(600)"


@pytest.fixture
def word() -> str:
    return f"footplate-test-{uuid.uuid4().hex}"


@pytest.fixture
def sleeper(word: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, MARK_VARIABLE: word}
    process = subprocess.Popen([sys.executable, "-c", SLEEP, word], env=environment)
    wait_until(lambda: bool(find_living(word)), "the process")
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_control_group_kills(word: str, tmp_path: Path, kind: str) -> None:
    """Where it is mounted, and may be written: the containment mode needs only one of them."""
    try:
        containment = CgroupContainment.open(word, kinds=(kind,))
    except Unavailable:
        return
    code = f"import os; os.fork() or os.setsid(); os.fork(); {SLEEP}"
    null = os.open(os.devnull, os.O_WRONLY)
    launch = Launch([sys.executable, "-c", code, word], {}, str(tmp_path), null, null)
    child = containment.start(launch, None)
    os.close(null)
    wait_until(lambda: len(find_living(word)) == 4, "the processes")
    record = IsolationRecord()
    containment.fill(record)
    again = CgroupContainment.reopen(record)
    assert again.kill()
    assert not find_living(word)
    assert os.WTERMSIG(child.reap()) == 9
    again.close()
    assert not [group for group in containment.groups if os.path.exists(group)]  # noqa: PTH110
    assert again.kill()


def test_a_mark_is_found_and_nothing_else(sleeper: subprocess.Popen[bytes], word: str) -> None:
    assert [process.pid for process in procfs.find_marked(word)] == [sleeper.pid]
    assert procfs.find_marked("no such mark") == []


def test_a_number_that_was_given_anew_is_left_alone(sleeper: subprocess.Popen[bytes]) -> None:
    known = procfs.find(sleeper.pid)
    assert known is not None
    procfs.kill(Process(sleeper.pid, 0, known.start - 1, zombie=False))
    assert sleeper.poll() is None
    procfs.kill(known)
    assert sleeper.wait(EVENT_S) == -9


def test_a_zombie_is_not_alive(sleeper: subprocess.Popen[bytes]) -> None:
    known = procfs.find(sleeper.pid)
    assert known is not None
    sleeper.kill()
    wait_until(lambda: not procfs.is_alive(known), "its end")


def test_a_containment_mode_that_is_none_is_refused() -> None:
    with pytest.raises(Unavailable, match="allowed: auto, cgroup, namespace, subreaper"):
        mode_selection.choose("magic", "m")


def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    containment, _ = mode_selection.choose("best-effort", "m")
    null = os.open(os.devnull, os.O_WRONLY)
    with pytest.raises(SpawnFailed, match="No such file"):
        containment.start(Launch(["/nowhere"], {}, str(tmp_path), null, null), None)
    os.close(null)


DIES_PROBING = """
import fcntl, os, signal, sys
from footplate.replica.isolation.cgroup import CgroupContainment
lock = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.flock(lock, fcntl.LOCK_EX)
CgroupContainment.kill = lambda _: os.kill(os.getpid(), signal.SIGKILL)
CgroupContainment.open(sys.argv[2])
"""


def test_a_child_that_is_abandoned_leaves_no_descriptor_open() -> None:
    """Else a supervisor that ends its init keeps one open for as long as it lives."""
    descriptors = Path("/proc/self/fd")
    before = set(descriptors.iterdir())
    child = fork(lambda _ready: os._exit(0))
    child.abandon()
    os.waitpid(child.pid, 0)
    assert set(descriptors.iterdir()) <= before  # an earlier test's may be closed meanwhile


def test_who_dies_while_it_probes_leaves_nobody_with_its_lock(word: str, tmp_path: Path) -> None:
    """Else a dead supervisor would count as alive for ever, and nothing could end it."""
    try:
        CgroupContainment.open(word).close()
    except Unavailable as error:
        pytest.skip(f"no control groups here: {error}")
    lock = tmp_path / "lock"

    command = [sys.executable, "-c", DIES_PROBING, str(lock), word]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    try:
        wait_until(lambda: not untrusted_files.is_locked(lock), "the lock to be free")
        wait_until(lambda: find_living(word) == [], "the probe's end")
    finally:
        for pid in find_living(word):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: find_living(word) == [], "its end")
        CgroupContainment.open(word).close()
