"""What processes use, by looking at real ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from footplate.replica.isolation.containment import ProcessSet
from footplate.replica.isolation.procfs import find_below
from footplate.replica.usage import process_stats
from tests.support.supervisor_process import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "print('up', flush=True); input()"])
sys.stdin.read()
"""


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    command, pipe = [sys.executable, "-c", PARENT], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True) as made:
        assert made.stdout is not None
        assert made.stdout.readline() == b"up\n", "the child runs"
        yield made
        os.killpg(made.pid, signal.SIGKILL)


def family_of(parent: subprocess.Popen[bytes]) -> ProcessSet:
    return ProcessSet([parent.pid, *find_below(parent.pid)])


def test_all_below_count(parent: subprocess.Popen[bytes]) -> None:
    found = process_stats.count(family_of(parent), transfers=True)
    assert (found.living, found.stopped, found.all_stopped) == (2, 0, False)
    assert found.memory_bytes > 2 << 20


def test_only_when_all_are_stopped_it_is(parent: subprocess.Popen[bytes]) -> None:
    os.kill(parent.pid, signal.SIGSTOP)
    wait_until(
        lambda: process_stats.count(family_of(parent), transfers=False).stopped == 1,
        "one of two",
    )
    assert not process_stats.count(family_of(parent), transfers=False).all_stopped
    os.killpg(parent.pid, signal.SIGSTOP)
    wait_until(
        lambda: process_stats.count(family_of(parent), transfers=False).all_stopped,
        "both",
    )
    os.killpg(parent.pid, signal.SIGCONT)
    wait_until(
        lambda: not process_stats.count(family_of(parent), transfers=False).stopped,
        "none",
    )


def test_helper_processes_are_no_processes_of_the_program(parent: subprocess.Popen[bytes]) -> None:
    pids = family_of(parent).pids
    found = process_stats.count(ProcessSet(pids, [parent.pid]), transfers=False)
    assert found.living == 1


def test_nobody_is_no_trouble() -> None:
    found = process_stats.count(ProcessSet([1 << 22]), transfers=True)
    assert (found.living, found.all_stopped, found.ticks) == (0, False, 0)
    assert find_below(1 << 22) == []
