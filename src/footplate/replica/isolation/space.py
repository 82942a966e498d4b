"""A process namespace that a program lives in: it sees, and can signal, nobody outside.

    supervisor ── init (pid 1 inside) ── program
    supervisor ── keeper (left the host's namespaces) ── init (pid 1 inside) ── program

A small init is the namespace's first process; when it ends, the kernel kills everything in the
namespace before that end can be seen. It ends with the program, and with the supervisor, however
that dies. Nothing can leave the namespace. Init reports the program's exact wait status.

Init is there before it is known what its program is (``inits``).
"""

from __future__ import annotations

import os
import signal
import time

from footplate.replica.isolation import inits
from footplate.replica.isolation.cage import KILL_PATIENCE_S, Child, Family
from footplate.replica.isolation.orders import Order
from footplate.replica.isolation.processes import Process, find_below, is_alive, kill
from footplate.replica.isolation.spawn import Launch, SpawnFailed

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Sequence

    from footplate.replica.isolation.inits import Init
    from footplate.replica.isolation.view import View

_PROBE_CODE = 7
_LOST_STATUS = int(signal.SIGKILL)
"""Init didn't say how the program ended: someone killed it, and the program with it."""
_PAUSE_S = 0.002


class Resident(Child):
    """The program that ``init`` keeps. ``pid`` is that of init, or of its keeper."""

    def __init__(self, init: Init) -> None:
        super().__init__(init.pid)
        self._init = init

    def terminate(self) -> None:
        self._init.pass_on(signal.SIGTERM)

    def reap(self) -> int:
        if self._status is None:
            super().reap()
            reported = self._init.conclude()
            self._status = _LOST_STATUS if reported is None else reported
        return self._status

    def record(self) -> dict[str, object]:
        """Nothing: how to find it the cage tells, by its init."""
        return {}


class Space:
    """One for the programs of a cage, which start one after the other, each in a new namespace.

    ``init`` is the process of the last one.
    """

    def __init__(self, init: Process | None = None) -> None:
        self._init = init
        self._waiting: Init | None = None

    @classmethod
    def reopen(cls, record: dict[str, Any]) -> Space:
        """``record`` has what ``Space.record`` told, or nothing of it."""
        if "init" not in record:
            return cls()
        return cls(Process(record["init"], 0, record["start"], zombie=False))

    def record(self) -> dict[str, object]:
        init = self._init
        return {} if init is None else {"init": init.pid, "start": init.start}

    def adopt(self, init: Init) -> None:
        """Have it keep the next program."""
        self._waiting, self._init = init, init.process

    def prepare(self) -> None:
        """Have an init for the next program. Raises OSError: there can be no more processes."""
        if self._waiting is None:
            self._make()

    def start(
        self,
        launch: Launch,
        view: View | None,
        inside: Sequence[int] = (),
        outside: Sequence[int] = (),
    ) -> Resident:
        """``inside`` and ``outside`` are those of an ``Order``. Raises SpawnFailed, OSError."""
        init, self._waiting = self._waiting or self._make(), None
        init.start(Order(launch, view, inside, outside))
        return Resident(init)

    def _make(self) -> Init:
        init = inits.make() or inits.make_with_keeper()
        self.adopt(init)
        return init

    def kill(self) -> bool:
        """Everything in it; False: some of it is still there."""
        killed = self._init is None or kill_init(self._init)
        if self._waiting is not None:
            self._waiting.give_up()
            self._waiting = None
        return killed

    def family(self, child: Child) -> Family:
        return Family([child.pid, *find_below(child.pid)], self.keepers(child))

    def keepers(self, child: Child) -> tuple[int, ...]:
        """Those of ``child`` that aren't the program's."""
        init = self._init
        return (child.pid,) if init is None or init.pid == child.pid else (child.pid, init.pid)


def find_fault() -> str:
    """Why no program can live in a process namespace here; empty if one can."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        launch = Launch(["/bin/sh", "-c", f"exit {_PROBE_CODE}"], {}, "/", null, null)
        status = Space().start(launch, None).reap()
    except (OSError, SpawnFailed) as error:
        return str(error)
    finally:
        os.close(null)
    if not os.WIFEXITED(status) or os.WEXITSTATUS(status) != _PROBE_CODE:
        return f"a program in a namespace ended with status {status}"
    return ""


def kill_init(init: Process) -> bool:
    """When init is a zombie, or gone, the kernel has killed all others before."""
    kill(init)
    end = time.monotonic() + KILL_PATIENCE_S
    while is_alive(init):
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_S)
    return True
