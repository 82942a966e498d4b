"""The init of a process namespace: what it inherits, and when its program starts."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from footplate.protocol.isolation_record import IsolationRecord
from footplate.replica.isolation import init, pid_namespace
from footplate.replica.isolation.pid_namespace import PidNamespace
from footplate.replica.isolation.procfs import Process, find, is_alive
from footplate.replica.isolation.spawn import Launch, SpawnFailed
from tests.support.supervisor_process import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs process namespaces")

HELPED = "helper process"
MAKERS = ["supervisor", HELPED]
DIES_BEFORE_THE_START = """
import os, signal, sys
from footplate.protocol.isolation_record import IsolationRecord
from footplate.replica.isolation import init
from footplate.replica.isolation.pid_namespace import PidNamespace
from footplate.replica.isolation.spawn import Launch
if sys.argv[1] == "helper process":
    init._enter_new_namespace = lambda: None
namespace = PidNamespace()
def die():
    record = IsolationRecord()
    namespace.fill(record)
    print(record.init, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
namespace.start(Launch(["/bin/echo", "started"], {}, "/", 1, 2, keep_record=die), None)
"""


@pytest.fixture(params=MAKERS)
def namespace(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PidNamespace]:
    """Whose init the supervisor forks, where it may, or a helper process."""
    fault = pid_namespace.find_fault()
    if fault:
        pytest.skip(fault)
    if request.param == HELPED:
        monkeypatch.setattr(init, "_enter_new_namespace", lambda: None)
    made = PidNamespace()
    yield made
    made.kill()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    yield reading, writing
    for descriptor in (reading, writing):
        if Path(f"/proc/self/fd/{descriptor}").exists():
            os.close(descriptor)


def launch(command: str, output: int, keep_record: Callable[[], object] = lambda: None) -> Launch:
    environment = {"NAME": "a word \udcff", "EMPTY": ""}
    argv = ["/bin/sh", "-c", command, "sh", "b c"]
    return Launch(argv, environment, "/", output, output, keep_record=keep_record)


def find_init(namespace: PidNamespace) -> Process | None:
    return find(record_of(namespace).init)


def record_of(namespace: PidNamespace) -> IsolationRecord:
    record = IsolationRecord()
    namespace.fill(record)
    return record


def test_a_program_gets_what_was_ordered_and_its_status_comes_back(
    namespace: PidNamespace, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe
    opened = set(Path("/proc/self/fd").iterdir())
    command = 'printf "%s|" "$NAME" "$EMPTY" "$1" $$ $PPID /proc/self/fd/*; exit 7'
    child = namespace.start(launch(command, writing), None)
    assert os.waitstatus_to_exitcode(child.reap()) == 7
    assert set(Path("/proc/self/fd").iterdir()) <= opened
    name, empty, argument, number, parent, *descriptors, _ = os.read(reading, 999).split(b"|")
    assert (name, empty, argument, parent) == (b"a word \xff", b"", b"b c", b"1")
    assert int(number) > 1
    assert descriptors == [b"/proc/self/fd/%d" % number for number in range(4)]  # 3: the directory


def test_nobody_but_the_program_holds_its_output(
    namespace: PidNamespace, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe
    child = namespace.start(launch("exec >&- 2>&-; sleep 600", writing), None)
    os.close(writing)
    assert os.read(reading, 1) == b""
    assert not child.has_ended()
    assert namespace.kill()
    assert os.waitstatus_to_exitcode(child.reap()) == -signal.SIGKILL


def test_a_program_starts_once_it_is_recorded(
    namespace: PidNamespace, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe
    os.set_blocking(reading, False)
    recorded: list[IsolationRecord] = []

    def keep_record() -> None:
        recorded.append(record_of(namespace))
        time.sleep(0.1)
        found = find_init(namespace)
        assert found is not None
        assert is_alive(found)
        with pytest.raises(BlockingIOError):
            os.read(reading, 1)

    child = namespace.start(launch("echo started; sleep 600", writing, keep_record), None)
    wait_until(lambda: _read(reading) == b"started\n", "the program")
    assert recorded == [record_of(namespace)]
    child.terminate()
    assert os.waitstatus_to_exitcode(child.reap()) == -signal.SIGTERM


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 99)
    except BlockingIOError:
        return b""


def test_without_a_record_there_is_no_program(
    namespace: PidNamespace, pipe: tuple[int, int]
) -> None:
    reading, writing = pipe

    def fail() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    opened = set(Path("/proc/self/fd").iterdir())
    with pytest.raises(OSError, match="No space left"):
        namespace.start(launch("echo started", writing, fail), None)
    assert find_init(namespace) is None
    assert set(Path("/proc/self/fd").iterdir()) <= opened
    assert namespace.kill()
    os.close(writing)
    assert os.read(reading, 1) == b""


def test_a_program_that_is_not_there_is_named(
    namespace: PidNamespace, pipe: tuple[int, int]
) -> None:
    order = Launch(["/nowhere"], {}, "/", pipe[1], pipe[1])
    with pytest.raises(SpawnFailed, match="No such file"):
        namespace.start(order, None)
    assert find_init(namespace) is None


@pytest.mark.parametrize("maker", MAKERS)
def test_an_init_that_waits_ends_with_its_supervisor(maker: str) -> None:
    fault = pid_namespace.find_fault()
    if fault:
        pytest.skip(fault)
    died = subprocess.run(
        [sys.executable, "-c", DIES_BEFORE_THE_START, maker], capture_output=True, check=False
    )
    assert died.returncode == -signal.SIGKILL, died.stderr
    (number,) = died.stdout.split()  # read to the end: nobody holds the program's output
    wait_until(lambda: not Path(f"/proc/{int(number)}").exists(), "the end of init")
