"""Removes what a killed engine leaves: helper processes, mounts, read-only directories."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

END_TIMEOUT_S = 10.0
ENGINE_PROGRAMS = frozenset(
    {"conmon", "containerd", "containerd-shim", "containerd-shim-runc-v2", "dockerd", "podman"}
)


def kill_processes_of(directory: Path, programs: Container[str] = ENGINE_PROGRAMS) -> None:
    """Kills these programs, where they name a path below ``directory``, and all that they run.

    Stops them first: the child of one that is killed while it starts it couldn't be found any more.
    """
    deadline = time.monotonic() + END_TIMEOUT_S
    while found := _processes_of(directory, programs):
        _signal(found, signal.SIGSTOP)
        found = _processes_of(directory, programs)
        _signal(found, signal.SIGKILL)
        if time.monotonic() > deadline:
            raise RuntimeError(f"processes of {directory} don't end: {found}")
        time.sleep(0.02)


def _signal(processes: list[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


class _All:
    def __contains__(self, _: object) -> bool:
        return True


HELD = ".held"
"""A file in the directory of a run of pytest, which the run keeps locked as long as it lives."""


def hold(directory: Path) -> int:
    """Locks the directory of this run; returns the descriptor that keeps the lock."""
    descriptor = os.open(directory / HELD, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def end_killed_run(directory: Path) -> None:
    """Ends what a run of pytest left running, and mounted, in its directory, when it was killed.

    Servers of such a run keep their ports, and a later run could start none. A lock says whether it
    was, not a process id: the run may be in a process namespace of its own.
    """
    with suppress(OSError), (directory / HELD).open() as held:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        kill_processes_of(directory, _All())
        unmount_below(directory)
        (directory / HELD).unlink()


def _processes_of(directory: Path, programs: Container[str]) -> list[int]:
    """Children first: a container whose monitor died can't be found any more."""
    prefix = f"{directory}/".encode()
    parents = {}
    found = []
    for process in _processes():
        with suppress(OSError):  # it has ended
            parents[process] = _parent(process)
            arguments = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            own = any(prefix in argument for argument in arguments)
            if own and Path(os.fsdecode(arguments[0])).name in programs:
                found.append(process)
    for process in found:  # grows meanwhile
        found += [child for child, of in parents.items() if of == process and child not in found]
    return found[::-1]


def _processes() -> list[int]:
    names = (folder.name for folder in Path("/proc").iterdir())
    return [int(name) for name in names if name.isdigit() and int(name) != os.getpid()]


def _parent(process: int) -> int:
    """Of one that still runs: a zombie of ours can't be killed and needn't be."""
    state, parent = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[:2]
    if state == "Z":
        raise ProcessLookupError(process)
    return int(parent)


def is_running(process: int) -> bool:
    """No zombie is."""
    with suppress(OSError):  # it has ended
        _parent(process)
        return True
    return False


def unmount_below(directory: Path) -> None:
    """Lazily: a process that dies right now may still hold one."""
    prefix = f"{directory}/"
    for point in reversed(_mount_points()):
        if point.startswith(prefix) or point == str(directory):
            subprocess.run(("umount", "-l", point), check=False, capture_output=True)


def _mount_points() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return [line.split()[4].encode().decode("unicode_escape") for line in lines]


def remove_tree(directory: Path) -> None:
    """Also what has no permissions; a monitor that ends may still write a file."""
    deadline = time.monotonic() + END_TIMEOUT_S
    while directory.exists():
        shutil.rmtree(directory, ignore_errors=True)
        if directory.exists():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{directory} can't be removed")
            time.sleep(0.05)
