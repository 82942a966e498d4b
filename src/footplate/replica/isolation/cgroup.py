"""Containment mode ``cgroup``: the program runs in a control group of its own.

Guarantee: whatever it has started is killed by the kernel, children that left its session or
cleared their environment included, also after the death of the supervisor. Only root could
move a process out. Where a memory controller is there too, being out of memory is recognised,
and memory can be limited; where a cpu controller is, the use of CPUs; where a pids controller is,
the number of processes.

Where it can be had, the program has a process namespace besides (``pid_namespace``): it sees and
signals nobody outside, and who was moved out of the group ends with it. Helper process and init
stay out of the group, so that neither its limits nor its counters are about them; but for the
moment in which init starts the program there.
"""

from __future__ import annotations

import os
import select
import signal
import time

from footplate.protocol.promised import PROCESS_NAMESPACE
from footplate.replica.file_io import read_text, write_text
from footplate.replica.isolation import levels, pid_namespace, resource_limits
from footplate.replica.isolation.cgroup_hierarchies import find_hierarchies
from footplate.replica.isolation.containment import (
    KILL_TIMEOUT_S,
    Containment,
    ProcessSet,
    Unavailable,
)
from footplate.replica.isolation.pid_namespace import PidNamespace
from footplate.replica.isolation.spawn import SpawnFailed, close_all_but, is_transient, spawn

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterable, Iterator, Sequence

    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.protocol.promised import Promised
    from footplate.replica.isolation.cgroup_hierarchies import Hierarchy
    from footplate.replica.isolation.containment import Child
    from footplate.replica.isolation.mount_namespace import MountNamespace
    from footplate.replica.isolation.resource_limits import Limits
    from footplate.replica.isolation.spawn import Launch

KINDS = ("cgroup2", "freezer")
"""Hierarchies that can kill: the unified one by itself, version 1's freezer with our help."""
COUNTERS = ("memory", "cpuacct")
"""The controllers of version 1 whose counts are wanted, whether they limit or not."""
LIMITERS = ("cpu", "pids")
"""The controllers of version 1 that limit something, and count nothing else."""
_INTERVAL_S = 0.002


class CgroupContainment(Containment):
    level = levels.CGROUP
    thorough = True

    def __init__(self, groups: list[str], killer: str, place: PidNamespace | None = None) -> None:
        """Keeps the program's control groups: ``groups`` are the directories of all of them,
        ``killer`` is the group that kills.
        """
        self.groups: list[str] = groups
        self._origins: list[str] = []
        """The supervisor's group for each of them."""
        self.kind = ""
        """The kind of the hierarchy that kills."""
        self._killer = killer
        self._space = place
        self._counter = ""
        """The file that counts kills for want of memory, once it was found."""

    @classmethod
    def open(
        cls,
        name: str,
        kinds: Sequence[str] = KINDS,
        *,
        limited: bool = False,
        promised: Promised | None = None,
    ) -> CgroupContainment:
        """Makes groups called ``name``, in the first kind of hierarchy that lets us.

        ``limited``: they are to have limits. Without a promise it is tried whether they kill, and
        whether programs can have process namespaces: the kernel takes 10 ms to kill.

        Raises:
            Unavailable.
            SpawnFailed, OSError: for a reason that may pass.
        """
        hierarchies = find_hierarchies()
        reasons = []
        for kind in kinds if promised is None else (promised.kind,):
            if kind not in hierarchies:
                reasons.append(f"this machine mounts no {kind} hierarchy")
                continue
            for parent in _find_parents(kind, hierarchies[kind], limited=limited):
                try:
                    containment = cls._try(kind, parent, name, promised)
                except (OSError, SpawnFailed) as error:
                    if is_transient(error):
                        raise
                    reasons.append(f"{kind}: {getattr(error, 'strerror', None) or error}")
                else:
                    containment._origins = [hierarchies[kind].own]
                    added = (*COUNTERS, *LIMITERS) if limited else COUNTERS
                    containment._add(hierarchies, added, name)
                    containment._enclose(
                        pid_namespace.find_fault()
                        if promised is None
                        else promised.fault(PROCESS_NAMESPACE)
                    )
                    return containment
        raise Unavailable("; ".join(dict.fromkeys(reasons)))

    @classmethod
    def _try(
        cls, kind: str, parent: str, name: str, promised: Promised | None
    ) -> CgroupContainment:
        """Returns the containment in one hierarchy, after trying whether it works. Raises OSError,
        SpawnFailed.
        """
        killer = _make(parent, name)
        containment = cls([killer], killer)
        containment.kind = kind
        if promised is not None:
            return containment
        try:
            containment._probe(kind)
        except BaseException:
            containment.close()
            raise
        return containment

    @classmethod
    def reopen(cls, record: IsolationRecord) -> CgroupContainment:
        return cls(list(record.groups), record.killer, PidNamespace.reopen(record))

    @property
    def guarantee(self) -> str:
        if self._space is not None:
            return self.level.guaranteed
        return self.level.guaranteed.replace(f"; {levels.SEES_OWN}", "")

    def fill(self, record: IsolationRecord) -> None:
        record.groups, record.killer = tuple(self.groups), self._killer
        if self._space is not None:
            self._space.fill(record)

    def start(self, launch: Launch, view: MountNamespace | None) -> Child:
        if self._space is None:
            return super().start(launch, view)
        doors: list[int] = []
        try:
            groups = (*self.groups, *self._origins)
            doors.extend(os.open(_procs(group), os.O_WRONLY) for group in groups)
            count = len(self.groups)
            return self._space.start(launch, view, doors[:count], doors[count:])
        finally:
            for door in doors:
                os.close(door)

    def kill(self) -> bool:
        """Kills the group's processes, then the process namespace: so the counters are complete."""
        emptied = self._kill_group()
        return (self._space is None or self._space.kill()) and emptied

    def _kill_group(self) -> bool:
        if not os.path.isdir(self._killer):
            return True
        if os.path.exists(os.path.join(self._killer, "cgroup.kill")):
            return _kill_unified(self._killer)
        return _kill_frozen(self._killer)

    def limit(self, wanted: Limits) -> dict[str, str]:
        return {
            "memory": resource_limits.limit_memory(self.groups, wanted.memory_bytes),
            "CPU": resource_limits.limit_cpu(self.groups, wanted.vcpus),
            "processes": resource_limits.limit_processes(self.groups, wanted.processes),
        }

    def family(self, child: Child) -> ProcessSet:
        """Returns the processes of the group; a child that is a zombie isn't among them any
        more.
        """
        try:
            pids = list(_list_processes(self._killer))
        except OSError:  # the group is gone
            pids = []
        if self._space is not None:
            helpers = self._space.helpers(child)
            return ProcessSet([*helpers, *pids], helpers)
        return ProcessSet(pids if child.pid in pids else [child.pid, *pids])

    def oom_kills(self) -> int | None:
        """Returns the kernel's count of kills at the group's limit and for want of any memory
        alike.
        """
        paths = (
            os.path.join(group, name)
            for group in self.groups
            for name in ("memory.events", "memory.oom_control")
        )
        for path in [self._counter] if self._counter else paths:
            count = _read_counter(path, "oom_kill")
            if count is not None:  # only one hierarchy has the controller
                self._counter = path
                return count
        return None

    def refused_processes(self) -> int | None:
        counts = (_read_counter(os.path.join(group, "pids.events"), "max") for group in self.groups)
        return next((count for count in counts if count is not None), None)

    def close(self) -> None:
        for group in self.groups:
            try:
                os.rmdir(group)
            except OSError:  # the program has made groups in it, or it is busy for a moment
                for directory, _, _ in os.walk(group, topdown=False):
                    _remove(directory)

    def _join(self) -> None:
        for group in self.groups:
            write_text(_procs(group), "0")

    def _enclose(self, fault: str) -> None:
        """Makes programs live in process namespaces; ``fault`` says why they can't."""
        if fault:
            self.missing_here = f"the program sees other programs, and can signal them ({fault})"
        else:
            self._space = PidNamespace()

    def _probe(self, kind: str) -> None:
        """Kills a child that does nothing, to test the group; raises if the child survives."""
        if kind == "cgroup2" and not os.path.exists(os.path.join(self._killer, "cgroup.kill")):
            raise FileNotFoundError("the kernel has no cgroup.kill")

        read_end, write_end = os.pipe()

        def body(ready: int) -> None:
            close_all_but({ready, read_end})
            self._join()
            os.close(ready)
            os.read(read_end, 1)  # ends when the parent does, however that dies
            os._exit(0)

        try:
            self._kill_probe(spawn(body))
        finally:
            os.close(read_end)
            os.close(write_end)

    def _kill_probe(self, pid: int) -> None:
        try:
            if not self.kill():
                raise TimeoutError("a child survived")
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _add(
        self, hierarchies: dict[str, Hierarchy], controllers: Iterable[str], name: str
    ) -> None:
        """Adds groups in the hierarchies of version 1 if possible; a missing one shows only when it
        is needed.
        """
        for controller in controllers:
            if controller in hierarchies:
                try:
                    group = _make(hierarchies[controller].own, name)
                except OSError:  # a figure is missing
                    continue
                if group not in self.groups:  # one hierarchy may have several controllers
                    self.groups.append(group)
                    self._origins.append(hierarchies[controller].own)


def _find_parents(kind: str, hierarchy: Hierarchy, *, limited: bool) -> Iterable[str]:
    if kind != "cgroup2":
        return (hierarchy.own,)
    return resource_limits.find_parents(hierarchy, enable=limited)


def _make(parent: str, name: str) -> str:
    path = os.path.join(parent, name)
    try:
        # It may exist: controllers of version 1 can share a hierarchy, and a start that is tried
        # again finds what it made before.
        os.mkdir(path)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
    return path


def _kill_unified(group: str) -> bool:
    """Kills all processes below the group at once by cgroup.kill, also those being forked; then
    waits until it is empty.
    """
    write_text(os.path.join(group, "cgroup.kill"), "1")
    end = time.monotonic() + KILL_TIMEOUT_S
    events = os.path.join(group, "cgroup.events")
    if "populated 1" not in read_text(events):
        return True
    with open(events, encoding="ascii") as file:
        poller = select.poll()
        # The kernel reports a change of this file as POLLPRI, to those who have read it before.
        poller.register(file, select.POLLPRI)
        while "populated 1" in file.read():
            left_s = end - time.monotonic()
            if left_s <= 0:
                return False
            poller.poll(left_s * 1000)
            file.seek(0)
    return True


def _kill_frozen(group: str) -> bool:
    """Kills all processes of the group: freezes them, so that none can fork, kills and thaws them,
    and checks again.
    """
    end = time.monotonic() + KILL_TIMEOUT_S
    state = os.path.join(group, "freezer.state")
    while True:
        write_text(state, "FROZEN")
        while read_text(state).strip() != "FROZEN" and time.monotonic() < end:
            time.sleep(_INTERVAL_S)
        pids = list(_list_processes(group))
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        # Frozen processes don't die. The group is thawed for that, frozen and listed again: only a
        # pass that finds it empty proves that none has forked before the freeze took hold.
        write_text(state, "THAWED")
        if not pids:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(_INTERVAL_S)


def _procs(group: str) -> str:
    return os.path.join(group, "cgroup.procs")


def _list_processes(group: str) -> Iterator[int]:
    for directory, _, _ in os.walk(group):
        for word in read_text(_procs(directory)).split():
            yield int(word)


def _remove(directory: str) -> None:
    """Removes the group's directory; tries again for a moment, because a group just emptied may be
    busy.
    """
    end = time.monotonic() + 1.0
    while True:
        try:
            os.rmdir(directory)
        except FileNotFoundError:
            return
        except OSError:  # it is busy for a moment
            if time.monotonic() >= end:
                return
            time.sleep(_INTERVAL_S)
        else:
            return


def _read_counter(path: str, name: str) -> int | None:
    try:
        words = read_text(path).split()
        return int(words[words.index(name) + 1])
    except (OSError, ValueError, IndexError):  # a figure is missing
        return None
