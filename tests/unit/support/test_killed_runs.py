"""A run that was killed doesn't fail the later ones."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support import ROOT
from tests.support.engines.leftovers import HELD, end_killed_run, hold, is_running
from tests.support.local_backend import wait_until


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_what_a_killed_run_left_mounted_goes(tmp_path: Path) -> None:
    left = tmp_path / "pytest-of-root" / "pytest-0"
    (left / "mounted").mkdir(parents=True, mode=0o700)
    for number in (1, 2, 3):
        left.with_name(f"pytest-{number}").mkdir()
    left.parent.chmod(0o700)
    test = f"{sys.executable} -m pytest -q tests/unit/support/test_durations.py -k add_to_what"
    mounted = f"grep {left.parent} /proc/mounts"
    script = f"mount -t tmpfs none {left}/mounted && {test} && {test} && ! {mounted}"
    done = subprocess.run(
        ("unshare", "--mount", "sh", "-c", script),
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list(left.parent.glob("garbage-*"))


def _run_program(folder: Path) -> subprocess.Popen[bytes]:
    """Starts a program that names a file of the folder, and has a child that doesn't."""
    script = "import subprocess; subprocess.run(['sleep', '600'])"
    words = (sys.executable, "-c", script, f"--config={folder}/config")
    return subprocess.Popen(words, start_new_session=True)


def _has_members(group: int) -> bool:
    """Returns whether the process group has any: one that is killed is there until it is reaped."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_programs_of_a_killed_run_end_and_those_of_others_do_not(tmp_path: Path) -> None:
    killed, running = tmp_path / "killed", tmp_path / "running"
    for folder in (killed, running):
        folder.mkdir()
    (killed / HELD).touch()
    held = hold(running)
    programs = [_run_program(folder) for folder in (killed, running)]
    try:
        for folder in (killed, running):
            end_killed_run(folder)
        assert programs[0].wait(60) == -signal.SIGKILL
        wait_until(lambda: not _has_members(programs[0].pid))
        assert is_running(programs[1].pid)
        assert [(folder / HELD).exists() for folder in (killed, running)] == [False, True]
    finally:
        os.close(held)
        for program in programs:
            with suppress(ProcessLookupError):
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()


def test_a_run_holds_its_directory_until_it_ends(tmp_path: Path) -> None:
    test = "tests/unit/support/test_durations.py"
    words = (sys.executable, "-m", "pytest", "-q", "--co", test)
    collected = {**os.environ, "TMPDIR": str(tmp_path)}
    subprocess.run(words, cwd=ROOT, env=collected, check=True, capture_output=True)
    subprocess.run((*words[:4], test), cwd=ROOT, env=collected, check=True, capture_output=True)
    assert not list(tmp_path.glob(f"pytest-of-*/pytest-*/{HELD}"))
