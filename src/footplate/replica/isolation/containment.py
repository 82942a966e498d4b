"""The interface of all containment modes."""

from __future__ import annotations

import os
import signal

from footplate.replica.isolation import levels
from footplate.replica.isolation.procfs import find, find_below
from footplate.replica.isolation.spawn import Launch, begin_session, execute, spawn

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterable, Sequence

    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.isolation.resource_limits import Limits

KILL_TIMEOUT_S = 10.0
"""How long a kill waits for what it killed: a process in the midst of I/O takes its time."""


class Unavailable(Exception):
    """Error of a containment mode that isn't available; the message says why."""


class Child:
    """A process that the supervisor started and must wait for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def terminate(self) -> None:
        """Sends SIGTERM to the program, which isn't reaped yet, so that no other process has its
        number.
        """
        os.kill(self.pid, signal.SIGTERM)

    @property
    def reaped(self) -> bool:
        """Says whether the child was reaped; another process may have its number then."""
        return self._status is not None

    def has_ended(self) -> bool:
        """Returns whether the child has ended. It stays a zombie, with its number, until
        ``reap``.
        """
        if self._status is not None:
            return True
        if hasattr(os, "waitid"):
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.pid, flags) is not None
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        self._status = status if pid else None
        return bool(pid)

    def reap(self) -> int:
        """Returns the program's wait status, as os.wait gives it."""
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        return self._status

    def fill(self, record: IsolationRecord) -> None:
        """Adds to the record what other processes need to find the child."""
        found = find(self.pid)
        record.pid, record.pid_start = self.pid, 0 if found is None else found.start


class ProcessSet:
    """The process ids of a program.

    ``helpers`` among them belong to the containment mode: they only wait for its processes.
    """

    __slots__ = ("helpers", "pids")

    def __init__(self, pids: list[int], helpers: Iterable[int] = ()) -> None:
        self.pids = pids
        self.helpers = frozenset(helpers)


class Containment:
    """The isolation of programs that are started one after the other; ``kill`` ends all their
    processes.
    """

    level: levels.Level
    missing_here = ""
    """What it doesn't guarantee on this machine, besides what it never does."""
    thorough = False
    """Whether nothing is left after ``kill``, whatever the program did to get away."""
    groups: Sequence[str] = ()
    """Directories of control groups that hold the program and nothing else."""
    written = ""
    """The directory of the host that holds what the program writes to a root of its own."""

    @property
    def name(self) -> str:
        return self.level.name

    @property
    def guarantee(self) -> str:
        return self.level.guaranteed

    def describe(self, detail: str = "") -> str:
        """Returns one sentence on what the mode guarantees, and what not; ``detail`` is added to
        the guarantee.
        """
        missing = "; ".join(filter(None, [self.missing_here, self.level.missing]))
        guaranteed = f"{self.name}: {self.guarantee}{f' ({detail})' if detail else ''}"
        return levels.describe(guaranteed, missing)

    def start(self, launch: Launch, view: MountNamespace | None) -> Child:
        """Starts a program, which sees ``view`` if given.

        Raises what ``launch.keep_record`` raises, and:
            SpawnFailed: it could not be started; nothing of it is left.
            OSError: there can be no more processes.
        """
        launch.keep_record()

        def body(_: int) -> None:
            begin_session()
            self._join()
            if view is not None:
                enter_view(view)
            execute(launch)

        return Child(spawn(body))

    @property
    def fault(self) -> str:
        """The event that ended the program from outside, if known; else ''."""
        return ""

    def discard(self) -> None:
        """Frees disk space that the dead program used."""

    def kill(self) -> bool:
        """Kills all known processes; returns False if some are still alive."""
        raise NotImplementedError

    def limit(self, wanted: Limits) -> dict[str, str]:  # noqa: ARG002  for those that can
        """Limits what programs may use, before the first is started.

        Returns for ``memory``, ``CPU`` and ``processes`` why the limit can't be set, '' if it is.
        """
        reason = f"mode {self.name} can't"
        return {"memory": reason, "CPU": reason, "processes": reason}

    def family(self, child: Child) -> ProcessSet:
        """Returns the processes of ``child`` as far as known, zombies included."""
        return ProcessSet([child.pid, *find_below(child.pid)])

    def oom_kills(self) -> int | None:
        """Returns how many of the program's processes the OOM killer ended; None if unknown."""
        return None

    def refused_processes(self) -> int | None:
        """Returns how many processes the kernel refused to start at the limit; None if unknown."""
        return None

    def reap_finished(self) -> None:
        """Reaps orphans that became this process's children."""

    def fill(self, record: IsolationRecord) -> None:
        """Adds to the record what a later process needs to ``kill`` after the death of this one."""

    def close(self) -> None:
        """Releases the resources of this containment mode."""

    def _join(self) -> None:
        """Joins the containment; called in the child, before it becomes the program."""


def enter_view(view: MountNamespace) -> None:
    from footplate.replica.isolation.mount_namespace import leave_host  # in children only: ctypes

    leave_host()
    view.enter(fresh_proc=False)
