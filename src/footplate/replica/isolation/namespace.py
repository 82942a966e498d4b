"""Containment mode ``namespace``: the program runs in a PID namespace of its own.

Guarantee: when it ends, or the supervisor does, the kernel kills all that it has started, and
nothing can get away: see ``pid_namespace``. Being out of memory isn't recognised.
"""

from __future__ import annotations

from footplate.replica.isolation import levels, pid_namespace
from footplate.replica.isolation.containment import Containment, Unavailable
from footplate.replica.isolation.pid_namespace import PidNamespace

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.protocol.promised import Promised
    from footplate.replica.isolation.containment import Child, ProcessSet
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.isolation.spawn import Launch


class NamespaceContainment(Containment):
    level = levels.NAMESPACE
    thorough = True

    def __init__(self, place: PidNamespace) -> None:
        self._space = place

    @classmethod
    def open(cls, promised: Promised | None = None) -> NamespaceContainment:
        """Returns the containment mode, tried first if not ``promised``. Raises Unavailable,
        SpawnFailed, OSError.
        """
        fault = pid_namespace.find_fault() if promised is None else ""
        if fault:
            raise Unavailable(fault)
        return cls(PidNamespace())

    @classmethod
    def reopen(cls, record: IsolationRecord) -> NamespaceContainment:
        return cls(PidNamespace.reopen(record))

    def fill(self, record: IsolationRecord) -> None:
        self._space.fill(record)

    def start(self, launch: Launch, view: MountNamespace | None) -> Child:
        return self._space.start(launch, view)

    def kill(self) -> bool:
        return self._space.kill()

    def family(self, child: Child) -> ProcessSet:
        return self._space.family(child)
