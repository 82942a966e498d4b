"""Chooses a containment mode, and finds it again after the supervisor's death."""

from __future__ import annotations

import os
import signal

from footplate.protocol.isolation_record import IsolationRecord
from footplate.replica.isolation import levels, pid_namespace
from footplate.replica.isolation.cgroup import CgroupContainment
from footplate.replica.isolation.containment import Child, Containment, Unavailable, enter_view
from footplate.replica.isolation.pid_namespace import PidNamespace
from footplate.replica.isolation.procfs import boot_id
from footplate.replica.isolation.spawn import try_in_child
from footplate.replica.isolation.subreaper import SubreaperContainment, sweep_marked

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.protocol.promised import Promised
    from footplate.replica.isolation.containment import ProcessSet
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.isolation.spawn import Launch


# Containment mode ``namespace``: the program runs in a PID namespace of its own.
#
# Guarantee: when it ends, or the supervisor does, the kernel kills all that it has started, and
# nothing can get away: see ``pid_namespace``. Being out of memory isn't recognised.


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


# Containment mode ``best-effort``: the program leads a process group.
#
# Guarantee: the group is killed. Children that left it (setsid) are not claimed. After the
# supervisor's death those of the group are found that have the mark in their environment.
# Being out of memory isn't recognised.


class ProcessGroupContainment(Containment):
    level = levels.BEST_EFFORT

    def __init__(self) -> None:
        self._child: Child | None = None

    def start(self, launch: Launch, view: MountNamespace | None) -> Child:
        self._child = super().start(launch, view)
        return self._child

    def kill(self) -> bool:
        """Kills the group before its leader is reaped, so that the group's number isn't
        another's.
        """
        if self._child is not None:
            try:
                os.killpg(self._child.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return True
        return True


CONTAINMENT_MODES = ("cgroup", "namespace", "subreaper", "best-effort")


def choose(wanted: str, mark: str, *, limited: bool = False) -> tuple[Containment, list[str]]:
    """Opens the strongest containment mode that works, or the ``wanted`` one; returns it, with the
    reasons against stronger ones.

    ``limited`` means that it is to ``limit`` what programs use, if it can.

    ``limited``: it is to ``limit`` what programs use, if it can.

    Raises:
        Unavailable: the wanted containment mode doesn't work, or there is none of this name.
        SpawnFailed, OSError: a stronger one doesn't for a reason that may pass.
    """
    if wanted != "auto" and wanted not in CONTAINMENT_MODES:
        allowed = ", ".join(("auto", *CONTAINMENT_MODES))
        raise Unavailable(f"isolation {wanted!r} given; allowed: {allowed}")
    reasons: list[str] = []
    for name in CONTAINMENT_MODES if wanted == "auto" else (wanted,):
        try:
            return _open(name, mark, limited=limited), reasons
        except Unavailable as error:
            reasons.append(f"{name}: {error}")
    raise Unavailable(
        "this machine can't isolate programs as the setting isolation requires: "
        f"{'; '.join(reasons)}"
    )


def open_promised(promised: Promised, mark: str, *, limited: bool) -> Containment:
    """Returns the containment mode that was promised, and no weaker one.

    Raises Unavailable, SpawnFailed, OSError if it can't be had now.
    """
    mode = promised.containment_mode
    if not mode:
        raise Unavailable("; ".join(promised.reasons))
    try:
        return _open(mode, mark, limited=limited, promised=promised)
    except Unavailable as error:
        raise Unavailable(
            f"the server promised isolation by {mode}, which this machine can't do now: {error}"
        ) from error


def find_fault(view: MountNamespace) -> str:
    """Returns why ``view`` can't be had here, or ''. Raises as ``try_in_child`` does."""
    return try_in_child(lambda: enter_view(view))


def describe(containment: Containment, mark: str) -> IsolationRecord:
    """Returns the record that cleanup needs to find the containment's processes."""
    record = IsolationRecord(containment.name, mark, boot_id())
    containment.fill(record)
    return record


def sweep(record: IsolationRecord) -> bool:
    """Kills the rest of a program whose supervisor is dead; returns False if some processes are
    still alive.

    After a restart of the machine there are none. On every containment mode, processes with the
    mark are looked for too.
    """
    if record.boot != boot_id():
        return True
    containment = _reopen(record)
    clean = containment.kill() if containment is not None else True
    clean = sweep_marked(record.mark) and clean
    if clean and containment is not None:
        containment.close()
    return clean


def _open(name: str, mark: str, *, limited: bool, promised: Promised | None = None) -> Containment:
    if name == "cgroup":
        group = f"footplate-{mark[:16]}"
        return CgroupContainment.open(group, limited=limited, promised=promised)
    if name == "namespace":
        return NamespaceContainment.open(promised)
    if name == "subreaper":
        return SubreaperContainment.open()
    return ProcessGroupContainment()


def _reopen(record: IsolationRecord) -> Containment | None:
    """Returns the containment of the record; None for modes that leave nothing but the mark."""
    if record.containment_mode == "cgroup" and record.killer:
        return CgroupContainment.reopen(record)
    if record.containment_mode == "namespace":
        return NamespaceContainment.reopen(record)
    if record.containment_mode == "container":
        from footplate.replica.container.containment import (
            EngineContainment,
        )  # only those that had one

        return EngineContainment.reopen(record)
    return None
