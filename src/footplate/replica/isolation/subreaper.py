"""Containment mode ``subreaper``: the supervisor adopts the program's orphans.

Guarantee: while the supervisor lives, whatever the program has started is killed, children that
left the session or cleared their environment included: a killed child's children become the
supervisor's own, and the kernel says when it has none left. After the supervisor's death those
are found that have the mark in their environment, and their children.
Being out of memory isn't recognised.
"""

from __future__ import annotations

import os
import signal
import time

from footplate.replica.isolation import levels
from footplate.replica.isolation.containment import (
    KILL_TIMEOUT_S,
    Child,
    Containment,
    ProcessSet,
    Unavailable,
)
from footplate.replica.isolation.procfs import (
    Process,
    find_all,
    find_below,
    find_children,
    find_descendants,
    find_marked,
    kill,
)

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.isolation.spawn import Launch

_INTERVAL_S = 0.002
_EMPTY_PASSES = 3
"""/proc isn't read at one moment: a process that is forked meanwhile, by one that dies before it is
reached, is in no list of that pass."""


class SubreaperContainment(Containment):
    level = levels.SUBREAPER

    def __init__(self) -> None:
        self._child: Child | None = None

    @classmethod
    def open(cls) -> SubreaperContainment:
        """Makes this process a subreaper and returns the mode. Raises Unavailable."""
        from footplate.replica.isolation import (
            syscalls,
        )  # on this containment mode only: it costs memory

        try:
            syscalls.become_subreaper()
        except (OSError, AttributeError) as error:
            raise Unavailable(str(error)) from error
        if next(find_all(), None) is None:
            raise Unavailable("/proc shows no processes")
        return cls()

    def start(self, launch: Launch, view: MountNamespace | None) -> Child:
        self._child = super().start(launch, view)
        return self._child

    def reap_finished(self) -> None:
        """Reaps adopted orphans; as long as the program is a zombie, those that ended before it."""
        while True:
            pid = _find_zombie()
            # ``waitid`` returns the first zombie again and again, so those behind the program wait.
            # The program stays: its phase reads the exit status.
            if not pid or (self._child is not None and pid == self._child.pid):
                return
            os.waitpid(pid, 0)

    def kill(self) -> bool:
        """Kills this process's own children: no other processes have their numbers until they are
        reaped.
        """
        end = time.monotonic() + KILL_TIMEOUT_S
        while time.monotonic() < end:
            for pid in find_children():
                os.kill(pid, signal.SIGKILL)
            try:
                self._reap_all()
            except ChildProcessError:
                return True
        return False

    def family(self, child: Child) -> ProcessSet:  # noqa: ARG002  orphans aren't below it
        own = os.getpid()
        return ProcessSet([own, *find_below(own)], (own,))

    def _reap_all(self) -> None:
        """Reaps all children that have ended. Raises ChildProcessError if there are no children any
        more.
        """
        pid = _find_zombie(or_raise=True)
        while pid:
            if self._child is not None and pid == self._child.pid:
                self._child.reap()
            else:
                os.waitpid(pid, 0)
            pid = _find_zombie(or_raise=True)


def _find_zombie(*, or_raise: bool = False) -> int:
    """Returns a child that has ended, 0 if none has. Without any children it raises if
    ``or_raise``.
    """
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        if or_raise:
            raise
        return 0
    return ended.si_pid if ended is not None else 0


def sweep_marked(mark: str) -> bool:
    """Kills all marked processes, with their descendants.

    Passes go on until some in a row find none; returns False if some are still alive after a while.
    """
    end = time.monotonic() + KILL_TIMEOUT_S
    empty = 0
    while empty < _EMPTY_PASSES:
        found = _find(mark)
        for process in found:
            kill(process)
        empty = 0 if found else empty + 1
        if found and time.monotonic() >= end:
            return False
        time.sleep(_INTERVAL_S)
    return True


def _find(mark: str) -> list[Process]:
    found = find_marked(mark)
    return found + [process for marked in found for process in find_descendants(marked.pid)]
