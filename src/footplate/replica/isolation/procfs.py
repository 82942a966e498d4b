"""Finds and identifies processes through /proc."""

from __future__ import annotations

import functools
import os
import re
import signal

from footplate.replica.file_io import read_start, read_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator

MARK_VARIABLE = "FOOTPLATE_REPLICA_MARK"

UNSEEN = (FileNotFoundError, NotADirectoryError, ProcessLookupError, PermissionError)
"""What the files of a process raise that has ended or can't be looked into.

Any other error says nothing of it: this process may have no descriptor left.
"""
_MARK = re.compile(rb"(?:\A|\0)" + MARK_VARIABLE.encode() + rb"=([^\0]*)")
_MOST_BYTES = 8 << 20
"""Linux starts no process with more than 6 MiB of arguments and environment (``exec.c``)."""


class Process:
    """A process of the machine. ``start`` is its start time in ticks since boot; with ``pid`` it is
    unique until reboot.
    """

    __slots__ = ("parent", "pid", "start", "zombie")

    def __init__(self, pid: int, parent: int, start: int, *, zombie: bool) -> None:
        self.pid = pid
        self.parent = parent
        self.start = start
        self.zombie = zombie


def find(pid: int) -> Process | None:
    try:
        # The name of a process stands in parentheses before these, and may itself hold blanks and
        # parentheses: the last one ends it.
        fields = read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()
        return Process(pid, int(fields[1]), int(fields[19]), zombie=fields[0] in ("Z", "X"))
    except UNSEEN:
        return None
    except (IndexError, ValueError):  # it ended while it was read
        return None


def find_all() -> Iterator[Process]:
    """Yields all processes that can be seen and aren't zombies."""
    try:
        names = os.listdir("/proc")
    except UNSEEN:
        return
    for name in names:
        process = find(int(name)) if name.isdigit() else None
        if process is not None and not process.zombie:
            yield process


def find_children() -> list[int]:
    """Returns the children of this process, zombies too."""
    own = os.getpid()
    try:
        with open(f"/proc/{own}/task/{own}/children", "rb", buffering=0) as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:  # a kernel without CONFIG_PROC_CHILDREN
        return [process.pid for process in find_all() if process.parent == own]


def find_descendants(pid: int) -> list[Process]:
    children: dict[int, list[Process]] = {}
    for process in find_all():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [pid]
    while parents:
        below = children.pop(parents.pop(), [])
        found += below
        parents += [process.pid for process in below]
    return found


def find_below(pid: int) -> list[int]:
    """Returns the descendants of a process, zombies too; the cost depends on their number alone."""
    found: list[int] = []
    left = [pid]
    try:
        while left:
            children = _read_children(left.pop())
            found += children
            left += children
    except UNSEEN:  # a kernel without CONFIG_PROC_CHILDREN
        return [process.pid for process in find_descendants(pid)]
    return found


def _read_children(pid: int) -> list[int]:
    """Returns the children of a process; none if it is gone. Raises OSError if this kernel doesn't
    list them.
    """
    children: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except UNSEEN:
        return children
    for thread in threads:
        path = f"/proc/{pid}/task/{thread}"
        try:
            with open(f"{path}/children", "rb", buffering=0) as file:
                children += [int(word) for word in file.read().split()]
        except UNSEEN:
            if os.path.exists(f"{path}/stat") and not os.path.exists(f"{path}/children"):
                raise
    return children


def find_marked(mark: str) -> list[Process]:
    """Returns processes whose environment, as it was at their start, has the mark."""
    return [p for p in find_all() if p.pid != os.getpid() and mark in read_marks(p.pid)]


def kill(process: Process) -> None:
    """Sends SIGKILL to the process, if it is still there; never to a later one with its number."""
    descriptor = -1
    try:
        # Opened before ``is_alive`` looks: what that finds alive then is what the descriptor is of,
        # even if its number is another process's a moment later.
        if hasattr(os, "pidfd_open"):
            descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    except OSError:  # an old kernel, or no descriptor is left: its number has to do
        descriptor = -1
    try:
        if is_alive(process) and descriptor >= 0:
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        elif is_alive(process):
            os.kill(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def is_alive(process: Process) -> bool:
    now = find(process.pid)
    return now is not None and now.start == process.start and not now.zombie


def is_there(pid: int) -> bool:
    """Returns whether a process with this number exists."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


@functools.lru_cache(maxsize=None)
def boot_id() -> str:
    """Returns an id that differs after each start of the machine; '' where that isn't known."""
    try:
        return read_text("/proc/sys/kernel/random/boot_id").strip()
    except UNSEEN:
        return ""


def read_marks(pid: int) -> list[str]:
    """Returns the marks in the process's environment, as it was at its start; none if it can't be
    read.
    """
    try:
        found = _MARK.findall(_read_memory(pid, "environ"))
    except UNSEEN:
        return []
    return [mark.decode("utf-8", "replace") for mark in found]


def read_arguments(pid: int) -> list[bytes]:
    """Returns the process's command line, without empty words at its end, which the fork server
    leaves.

    Raises OSError; its errno is in ``UNSEEN`` if the command line can't be seen.
    """
    return _read_memory(pid, "cmdline").rstrip(b"\0").split(b"\0")


def _read_memory(pid: int, name: str) -> bytes:
    """Returns memory at the place that the process names, which can claim any length
    (``prctl``).
    """
    return read_start(f"/proc/{pid}/{name}", _MOST_BYTES)
