"""What every rung of the ladder can do."""

from __future__ import annotations

import os
import signal

from footplate.replica.isolation.processes import find, find_below
from footplate.replica.isolation.spawn import Launch, begin_session, execute, spawn

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterable, Sequence

    from footplate.replica.isolation.inits import Init
    from footplate.replica.isolation.limits import Limits
    from footplate.replica.isolation.view import View

KILL_PATIENCE_S = 10.0
"""How long a kill waits for what it killed: a process in the midst of I/O takes its time."""


class Unavailable(Exception):
    """This rung can't be had here; says why."""


class Child:
    """A process that the supervisor started and must wait for."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def terminate(self) -> None:
        """SIGTERM to the program, which isn't reaped yet: its number is its own."""
        os.kill(self.pid, signal.SIGTERM)

    @property
    def reaped(self) -> bool:
        """Whether its number may be another's by now."""
        return self._status is not None

    def has_ended(self) -> bool:
        """Whether it is a zombie; it stays one until ``reap``, so that its number stays its own."""
        if self._status is not None:
            return True
        if hasattr(os, "waitid"):
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.pid, flags) is not None
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        self._status = status if pid else None
        return bool(pid)

    def reap(self) -> int:
        """The program's wait status, as os.wait gives it."""
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        return self._status

    def record(self) -> dict[str, object]:
        """What other processes need to find what this one has become."""
        found = find(self.pid)
        return {"pid": self.pid, "pid_start": found.start if found is not None else 0}


class Family:
    """The numbers of the processes that a program is made of.

    Among them are ``keepers``, which belong to the rung: they only wait for its processes.
    """

    __slots__ = ("keepers", "pids")

    def __init__(self, pids: list[int], keepers: Iterable[int] = ()) -> None:
        self.pids = pids
        self.keepers = frozenset(keepers)


class Cage:
    """Starts programs one after the other; ``kill`` ends all that they have started."""

    name = ""
    guarantee = ""
    thorough = False
    """Whether nothing is left after ``kill``, whatever the program did to get away."""
    groups: Sequence[str] = ()
    """Directories of control groups that hold the program and nothing else."""

    def adopt(self, init: Init) -> None:
        """Have it keep the next program: where that is of no use, end it."""
        init.give_up()

    def prepare(self) -> None:
        """Make what ``record`` is to tell of the next program, before there is one.

        Raises OSError: there can be no more processes.
        """

    def start(self, launch: Launch, view: View | None) -> Child:
        """Start a program, which sees ``view`` if given.

        Raises:
            SpawnFailed: it could not be started; nothing of it is left.
            OSError: there can be no more processes.
        """

        def body(_: int) -> None:
            begin_session()
            self._join()
            if view is not None:
                enter_view(view)
            execute(launch)

        return Child(spawn(body))

    @property
    def fault(self) -> str:
        """What ended the program from outside, where the rung knows; else empty."""
        return ""

    def discard(self) -> None:
        """Free the disk of what the rung keeps of what the dead program wrote."""

    def kill(self) -> bool:
        """Kill whatever this rung can know of; False: some of it is still there."""
        raise NotImplementedError

    def limit(self, wanted: Limits) -> dict[str, str]:  # noqa: ARG002  for those that can
        """Bound what programs may use; before the first is started.

        Returns for ``memory`` and ``CPU`` why that can't be, empty if it is.
        """
        reason = f"rung {self.name} can't"
        return {"memory": reason, "CPU": reason}

    def family(self, child: Child) -> Family:
        """What ``child`` consists of now, as far as the rung knows; zombies too."""
        return Family([child.pid, *find_below(child.pid)])

    def oom_kills(self) -> int | None:
        """How many of its processes the kernel ended for want of memory; None: nobody knows."""
        return None

    def tidy(self) -> None:
        """Reap whom the rung has made this process's children, besides the program."""

    def record(self) -> dict[str, object]:
        """What a later process needs to ``kill`` after the death of this one."""
        return {}

    def close(self) -> None:
        """Give back what the rung itself has taken."""

    def _join(self) -> None:
        """In the child, before it becomes the program."""


def enter_view(view: View) -> None:
    from footplate.replica.isolation.view import leave_host  # in children only: ctypes

    leave_host()
    view.enter(fresh_proc=False)
