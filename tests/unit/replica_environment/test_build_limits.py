"""Builds that print without end, or never end, with a program in uv's place."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from footplate.replica.environment.build_isolation import BuildIsolation
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.uv import Uv, UvFailed
from tests.support.deadlines import EVENT_S

SCARCE_BYTES = 128 << 20
GREEDY = f"""
from footplate.replica.environment.command import _limit_memory
_limit_memory({SCARCE_BYTES})
_limit_memory(0)
import subprocess, sys
sys.exit(subprocess.call([sys.executable, "-c", "bytearray({2 * SCARCE_BYTES})"]))
"""


def make_uv(folder: Path, script: str, limit_s: float = EVENT_S) -> Uv:
    program = folder / "uv"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Uv(str(program), {"PATH": "/usr/bin:/bin"}, limit_s=limit_s)


def ignore(_done: int, _total: int) -> None:
    return


def test_a_build_that_prints_without_end_is_ended(tmp_path: Path) -> None:
    uv = make_uv(tmp_path, "exec yes")
    with pytest.raises(PreparationError, match="prints more than 16 MiB"):
        uv.run(["build"])


def test_what_is_kept_of_an_installation_is_bounded(tmp_path: Path) -> None:
    uv = make_uv(tmp_path, "head -c 1000000 /dev/zero | tr '\\0' x; exit 1")
    with pytest.raises(UvFailed) as failure:
        uv.install([], ignore)
    assert 0 < len(failure.value.output) < 200_000


@pytest.mark.parametrize("script", ["exec sleep 1000", "sleep 1000 &"])
def test_a_build_whose_output_stays_open_is_ended(tmp_path: Path, script: str) -> None:
    uv = make_uv(tmp_path, f"echo $$ > {tmp_path}/pid; {script}", limit_s=0.5)
    for run in (lambda: uv.run(["build"]), lambda: uv.install([], ignore)):
        with pytest.raises(PreparationError, match=r"after 0\.5 s \(setting build_limit_s\)"):
            run()
        pid = (tmp_path / "pid").read_text().strip() if (tmp_path / "pid").exists() else ""
        assert not (pid and Path(f"/proc/{pid}").exists())


class Interrupting(BuildIsolation):
    """Sends Ctrl-C to the parent when a process was forked, and before it runs its program."""

    def enter(self) -> None:
        os.kill(os.getppid(), signal.SIGINT)


def find_children() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            if path.read_text().rpartition(")")[2].split()[1] == str(os.getpid()):
                found.add(path.parent.name)
    return found


def test_ctrl_c_while_a_build_starts_leaves_no_build(tmp_path: Path) -> None:
    isolation = Interrupting(str(tmp_path), None, namespaced=False)
    uv = make_uv(tmp_path, "exec sleep 1000").secluding(isolation).isolated
    before, handler = find_children(), signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        uv.run(["build"])
    assert find_children() <= before
    assert signal.getsignal(signal.SIGINT) is handler


def test_what_a_build_starts_has_no_more_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-c", GREEDY], capture_output=True, text=True, check=False
    )
    assert "MemoryError" in done.stderr
