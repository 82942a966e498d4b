"""The parent of launchers, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.local_backend import wait_until

PROGRAM = """\
import os, signal, sys, time
from footplate.replica.launcher.parent import MAX_LAUNCHERS, WARM, Parent

def note(name, text):
    with open(name + ".part", "w") as file:
        file.write(str(text))
    os.replace(name + ".part", name)

def orphan():
    if not os.fork():
        os.setsid()
        if not os.fork():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            note("orphan", os.getpid())
            time.sleep(600)
        os._exit(0)
    os.wait()

def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

def serve(deaths, turn):
{serve}

sys.exit(Parent(serve, kill_after_s={kill_after_s}).run())
"""
LIMIT_S = 60


def start(folder: Path, serve: str, kill_after_s: float = 0.2) -> subprocess.Popen[bytes]:
    lines = "\n".join(f"    {line}" for line in serve.strip().splitlines())
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(serve=lines, kill_after_s=kill_after_s)], cwd=folder
    )


AFTER_A_DEATH = """
if not deaths:
    orphan()
    while not os.path.exists("orphan"):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
note("seen", [deaths, is_alive(int(open("orphan").read()))])
return 0
"""
AFTER_ONE_THAT_LEFT = """
if turn == 0 and not deaths:
    os.kill(os.getpid(), signal.SIGKILL)
if turn == 0:
    orphan()
    while not os.path.exists("orphan"):
        time.sleep(0.01)
    return WARM
note("seen", [deaths, turn, is_alive(int(open("orphan").read()))])
return 0
"""


@pytest.mark.parametrize(
    ("serve", "seen"),
    [(AFTER_A_DEATH, "[1, False]"), (AFTER_ONE_THAT_LEFT, "[0, 1, False]")],
    ids=["death", "left"],
)
def test_the_next_launcher_begins_when_nothing_of_the_last_one_is_left(
    tmp_path: Path, serve: str, seen: str
) -> None:
    """Not even a daemon that ignores signals; the deaths of one that left don't count any more."""
    assert start(tmp_path, serve).wait(LIMIT_S) == 0
    assert (tmp_path / "seen").read_text() == seen


BETWEEN = """
if turn == 0:
    os.kill(os.getppid(), signal.SIGTERM)
    return WARM
time.sleep(600)
"""
RAISES = """
if not deaths:
    raise ValueError("of a test")
return 1
"""


@pytest.mark.parametrize("serve", [BETWEEN, RAISES], ids=["signal-between-two", "exception"])
def test_the_parent_ends_with_its_launcher(tmp_path: Path, serve: str) -> None:
    """A signal between two launchers ends the next one; an exception is a death."""
    assert start(tmp_path, serve).wait(LIMIT_S) == 1


def test_a_signal_to_end_reaches_the_launcher_and_none_follows_it(tmp_path: Path) -> None:
    parent = start(
        tmp_path,
        """
note("begun", deaths)
time.sleep(600)
""",
    )
    wait_until((tmp_path / "begun").exists)
    parent.send_signal(signal.SIGTERM)
    assert parent.wait(LIMIT_S) == 1
    assert (tmp_path / "begun").read_text() == "0"


def test_a_parent_that_is_killed_takes_its_launcher_with_it(tmp_path: Path) -> None:
    parent = start(
        tmp_path,
        """
note("launcher", os.getpid())
time.sleep(600)
""",
    )
    wait_until((tmp_path / "launcher").exists)
    launcher = int((tmp_path / "launcher").read_text())
    parent.kill()
    parent.wait(LIMIT_S)
    wait_until(lambda: not is_alive(launcher))


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
