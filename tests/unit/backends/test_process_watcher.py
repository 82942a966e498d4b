import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from footplate.backends.local.process_watcher import (
    PollingWatcher,
    ProcessWatcher,
    make_process_watcher,
)


@pytest.fixture(params=["best", "slow"])
def watcher(request: pytest.FixtureRequest) -> Iterator[ProcessWatcher]:
    made = make_process_watcher() if request.param == "best" else PollingWatcher(period_s=0.02)
    yield made
    made.close()


def spawn() -> subprocess.Popen[bytes]:
    """A child that ends when its standard input does; Popen is kept from reaping it."""
    child = subprocess.Popen(
        [sys.executable, "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE
    )
    child.returncode = 0
    return child


def end(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    child.stdin.close()


def test_a_death_is_told_once_and_the_child_reaped(watcher: ProcessWatcher) -> None:
    child = spawn()
    watched = watcher.watch(child.pid)
    assert watcher.wait(0) == ()
    end(child)
    dead: tuple[int, ...] = ()
    while not dead:
        dead = watcher.wait(None)
    assert dead == (watched,)
    assert watcher.wait(0) == ()
    with pytest.raises(ChildProcessError):
        os.waitpid(child.pid, os.WNOHANG)


def test_each_of_many_deaths_is_told(watcher: ProcessWatcher) -> None:
    children = [spawn() for _ in range(5)]
    expected = {watcher.watch(child.pid) for child in children}
    for child in children:
        end(child)
    dead: set[int | None] = set()
    while dead != expected:
        dead.update(watcher.wait(None))


def test_who_is_dead_and_reaped_is_not_watched(watcher: ProcessWatcher) -> None:
    child = spawn()
    end(child)
    os.waitpid(child.pid, 0)
    assert watcher.watch(child.pid) is None


def test_a_process_that_is_not_ours_can_be_watched(watcher: ProcessWatcher) -> None:
    code = (
        "import subprocess, sys;"
        "p = subprocess.Popen([sys.executable, '-S', '-c', 'import sys; sys.stdin.read()']);"
        "print(p.pid, flush=True)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-S", "-W", "ignore", "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdin is not None
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.stdout.close()
    watched = watcher.watch(pid)
    os.waitpid(parent.pid, 0)
    parent.returncode = 0
    parent.stdin.close()
    dead: tuple[int, ...] = ()
    while not dead:
        dead = watcher.wait(None)
    assert dead == (watched,)


def test_a_wait_can_be_ended_from_another_thread(watcher: ProcessWatcher) -> None:
    thread = threading.Timer(0.01, watcher.wake)
    thread.start()
    assert watcher.wait(None) == ()
    thread.join()


def test_a_ring_before_the_wait_counts_and_counts_once(watcher: ProcessWatcher) -> None:
    for _ in range(100_000):
        watcher.wake()
    assert watcher.wait(None) == ()
    assert watcher.wait(0.0) == ()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has process descriptors")
def test_children_that_outlive_the_watch_are_reaped_nevertheless() -> None:
    """The process goes on: it was a server that led, and follows now."""
    watcher, child = make_process_watcher(), spawn()
    assert watcher.watch(child.pid) is not None
    watcher.close()
    end(child)
    while is_child(child.pid):
        pass


def is_child(pid: int) -> bool:
    """Waits for its death, and leaves it to be reaped by another."""
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
