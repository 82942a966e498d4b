"""The process that is forked before its launcher knows what it will supervise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from footplate.replica.launcher.bootstrap import ROOM
from footplate.replica.supervisor_archive import build_archive
from tests.support.local_backend import wait_until

LAUNCHER = """\
import os, signal, sys, time
sys.path.insert(0, sys.argv[1])
from footplate.replica.launcher.prepared_supervisor import PreparedSupervisor
prepared = PreparedSupervisor.fork()
if sys.argv[4] == "kill":
    prepared.send_signal(signal.SIGKILL)
if sys.argv[4] == "die":
    print(prepared._pid, flush=True)
    if os.fork():
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()  # a child that holds the channel open
    os._exit(0)
if sys.argv[4] == "leave":
    prepared.close()
while sys.argv[4] != "stay" and prepared.poll() is None:
    time.sleep(0.01)
home = sys.argv[3]
print(prepared.supervise(home, sys.argv[1], home + ".log"), prepared._pid, flush=True)
sys.stdin.read()
"""
"""What a launcher does with it, without a server."""


def launch(archive: Path, home: Path, what: str = "stay") -> subprocess.Popen[str]:
    words = [str(archive), "launch", str(home), what, ROOM]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", LAUNCHER, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def answer_of(launcher: subprocess.Popen[str]) -> tuple[str, int]:
    assert launcher.stdout is not None
    said, pid = launcher.stdout.readline().split()
    return said, int(pid)


def words_of(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().rstrip("\0").split("\0")
    return []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """One whose server isn't there, so that its supervisor waits."""
    home = tmp_path / "home~0"
    home.mkdir(mode=0o700)
    (home / "ticket.json").write_text(f'{{"server_file": "{tmp_path}/none", "token": "t"}}')
    return home


def test_it_becomes_the_supervisor_of_a_home(home: Path, tmp_path: Path) -> None:
    launcher = launch(build_archive(tmp_path), home)
    try:
        said, pid = answer_of(launcher)
        assert said == "True"
        wait_until((home / "pid").exists)
        assert (home / "pid").read_text() == f"{pid}\n"
        assert words_of(pid)[-2:] == ["run", str(home)]
        assert (tmp_path / "home~0.log").exists()
        assert os.getsid(pid) == pid
        os.kill(pid, signal.SIGKILL)
    finally:
        launcher.communicate("")


def test_it_ends_with_a_launcher_that_is_killed(home: Path, tmp_path: Path) -> None:
    launcher = launch(build_archive(tmp_path), home, "die")
    assert launcher.stdout is not None
    pid = int(launcher.stdout.readline())
    assert launcher.wait(60) == -signal.SIGKILL
    wait_until(lambda: not words_of(pid))
    launcher.communicate()


@pytest.mark.parametrize("what", ["kill", "leave"])
def test_a_process_that_has_ended_supervises_nothing(home: Path, tmp_path: Path, what: str) -> None:
    """As one that was killed, or that of a launcher that had nothing to start."""
    launcher = launch(build_archive(tmp_path), home, what)
    assert answer_of(launcher)[0] == "False"
    launcher.communicate("")
    assert not (home / "pid").exists()
