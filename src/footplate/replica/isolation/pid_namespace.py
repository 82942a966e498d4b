"""A PID namespace for a program, which sees and signals no process outside it.

    supervisor ── init (pid 1 inside) ── program
    supervisor ── helper process (left the host's namespaces) ── init (pid 1 inside) ── program

A small init is the namespace's first process; when it ends, the kernel kills everything in the
namespace before that end can be seen. It ends with the program, and with the supervisor, however
that dies. Nothing can leave the namespace. Init reports the program's exact wait status.
"""

from __future__ import annotations

import os
import signal
import time

from footplate.replica.isolation.containment import KILL_TIMEOUT_S, Child, ProcessSet
from footplate.replica.isolation.init import Init, InitConfig, fork_init
from footplate.replica.isolation.procfs import Process, find_below, is_alive, kill
from footplate.replica.isolation.spawn import Launch, SpawnFailed, is_transient

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.replica.isolation.mount_namespace import MountNamespace

_PROBE_CODE = 7
_LOST_STATUS = int(signal.SIGKILL)
"""Init didn't say how the program ended: someone killed it, and the program with it."""
_INTERVAL_S = 0.002


class NamespacedProgram(Child):
    """The program that ``init`` runs. ``pid`` is that of init, or of its helper process."""

    def __init__(self, init: Init) -> None:
        super().__init__(init.pid)
        self._init = init

    def terminate(self) -> None:
        self._init.forward_signal(signal.SIGTERM)

    def reap(self) -> int:
        if self._status is None:
            super().reap()
            reported = self._init.conclude()
            self._status = _LOST_STATUS if reported is None else reported
        return self._status

    def fill(self, record: IsolationRecord) -> None:
        """Adds nothing: the record of the containment names the init."""


class PidNamespace:
    """Creates a new PID namespace for each program of a supervisor.

    ``init`` is the process of the last one.
    """

    def __init__(self, init: Process | None = None) -> None:
        self._init = init

    @classmethod
    def reopen(cls, record: IsolationRecord) -> PidNamespace:
        """Returns the namespace in the record that ``PidNamespace.fill`` wrote; the record may lack
        one.
        """
        return cls(Process(record.init, 0, record.start, zombie=False) if record.init else None)

    def fill(self, record: IsolationRecord) -> None:
        if self._init is not None:
            record.init, record.start = self._init.pid, self._init.start

    def start(
        self,
        launch: Launch,
        view: MountNamespace | None,
        inside: Sequence[int] = (),
        outside: Sequence[int] = (),
    ) -> NamespacedProgram:
        """Starts a program in the namespace; ``inside`` and ``outside`` are those of an
        ``InitConfig``.

        Raises SpawnFailed, OSError, and what ``launch.keep_record`` raises; no program runs then.
        """
        init = fork_init(InitConfig(launch, view, inside, outside))
        self._init = init.process
        try:
            launch.keep_record()
        except BaseException:
            init.give_up()
            raise
        init.start()
        return NamespacedProgram(init)

    def kill(self) -> bool:
        """Kills all processes of the namespace; returns False if some are still alive."""
        return self._init is None or kill_init(self._init)

    def family(self, child: Child) -> ProcessSet:
        return ProcessSet([child.pid, *find_below(child.pid)], self.helpers(child))

    def helpers(self, child: Child) -> tuple[int, ...]:
        """Returns the processes of ``child`` that aren't the program's."""
        init = self._init
        return (child.pid,) if init is None or init.pid == child.pid else (child.pid, init.pid)


def find_fault() -> str:
    """Returns why no program can live in a process namespace here; '' if one can.

    Raises SpawnFailed, OSError: for a reason that may pass.
    """
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        launch = Launch(["/bin/sh", "-c", f"exit {_PROBE_CODE}"], {}, "/", null, null)
        status = PidNamespace().start(launch, None).reap()
    except (OSError, SpawnFailed) as error:
        if is_transient(error):
            raise
        return str(error)
    finally:
        os.close(null)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) != _PROBE_CODE:
        return f"a program in a namespace ended with status {status}"
    return ""


def kill_init(init: Process) -> bool:
    """Kills init and so all its processes; returns whether init is gone: the kernel kills the
    others first.
    """
    kill(init)
    end = time.monotonic() + KILL_TIMEOUT_S
    while is_alive(init):
        if time.monotonic() >= end:
            return False
        time.sleep(_INTERVAL_S)
    return True
