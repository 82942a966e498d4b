"""Enters the namespaces and control groups of a running program.

What there is to enter differs by containment mode: control groups on ``cgroup``, a process
namespace on ``namespace``, and on all of them the program's own view of the file system where it
has one. What goes in is ended with all else that the containment mode ends; on ``best-effort``,
which knows a process group only, its starter must do that.
"""

from __future__ import annotations

import os

from footplate.replica.isolation import syscalls
from footplate.replica.isolation.containment import Unavailable
from footplate.replica.isolation.procfs import (
    Process,
    boot_id,
    find,
    find_all,
    find_below,
    is_alive,
)

TYPE_CHECKING = False  # without the module typing, which isn't needed
if TYPE_CHECKING:
    from footplate.protocol.isolation_record import IsolationRecord

_NAMESPACES = ("user", "pid", "net", "uts", "ipc", "mnt")
"""The namespaces in the order of entering: the first gives an ordinary user the right to others."""


class Entry:
    """The entry to the namespaces of ``program``. ``groups`` are its control groups."""

    def __init__(self, program: Process, groups: list[str]) -> None:
        self.program = program
        self._groups = groups

    @classmethod
    def find(cls, record: IsolationRecord) -> Entry:
        """Returns the entry to the namespaces of a program; ``record`` is what the supervisor wrote
        for cleanup.

        Raises:
            Unavailable: no program runs there.
        """
        if record.boot != boot_id():
            raise Unavailable("the machine has rebooted since the program started")
        if record.init:
            program = _find_first_child(record.init, record.start)
        else:
            program = find(record.pid)
            if program is not None and program.start != record.pid_start:
                program = None
        if program is not None and record.nested:
            program = _find_nested(program.pid)
        if program is None or program.zombie:
            raise Unavailable("the replica's program isn't running")
        return cls(program, list(record.groups))

    @property
    def alive(self) -> bool:
        """Says whether the program still runs."""
        return is_alive(self.program)

    def enter(self) -> None:
        """Enters the namespaces; the process then forks, because only a child is in the process
        namespace.

        Raises OSError, Unavailable.
        """
        # The groups come before the question whether the program lives. If it ended after the
        # question, its groups would be killed before this process joins them, and it would stay.
        for group in self._groups:
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write("0")
        # All are opened before the first is entered: from inside the program's mount namespace
        # /proc shows other processes, or these under other numbers.
        doors = [_open_namespace(self.program.pid, kind) for kind in _NAMESPACES]
        if not self.alive:  # then these may be another's; and the groups may have been emptied
            raise Unavailable("the replica's program has ended")
        for door in doors:
            if door is not None:
                syscalls.setns(door)
                os.close(door)


def _open_namespace(pid: int, kind: str) -> int | None:
    """Returns a descriptor of a namespace; None if this process is in it, or the kernel has none of
    this kind.
    """
    theirs, own = f"/proc/{pid}/ns/{kind}", f"/proc/self/ns/{kind}"
    try:
        if os.readlink(theirs) == os.readlink(own):
            return None
    except FileNotFoundError:
        return None
    return os.open(theirs, os.O_RDONLY)


def _find_nested(pid: int) -> Process | None:
    """Returns the program in the container that the process ``pid`` has made: the oldest of its
    descendants in another process namespace, except the namespace's first process.
    """
    depth = len(_read_numbers(pid))
    found = [find(each) for each in find_below(pid) if _is_nested(_read_numbers(each), depth)]
    processes = [each for each in found if each is not None]
    return min(processes, key=lambda process: (process.start, process.pid), default=None)


def _is_nested(numbers: list[int], depth: int) -> bool:
    return len(numbers) > depth and numbers[-1] != 1


def _read_numbers(pid: int) -> list[int]:
    """Returns the process's number in each of its namespaces, the outermost first; [] if it is
    gone.
    """
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as file:
            lines = [line for line in file if line.startswith("NSpid:")]
    except OSError:  # it has ended
        return []
    return [int(word) for line in lines for word in line.split()[1:]]


def _find_first_child(pid: int, start: int) -> Process | None:
    """Returns the program of an init, which is its oldest child: all other processes descend from
    it.
    """
    init = find(pid)
    if init is None or init.start != start:
        return None
    children = [process for process in find_all() if process.parent == pid]
    return min(children, key=lambda process: (process.start, process.pid), default=None)
