"""Rung ``cgroup``: the program lives in a control group of its own.

Guarantee: whatever it has started is killed by the kernel, children that left its session or
cleared their environment included, also after the death of the supervisor. Only root could
move a process out. Where a memory controller is there too, being out of memory is recognised.
"""

from __future__ import annotations

import os
import select
import signal
import time

from footplate.replica.isolation.cage import KILL_PATIENCE_S, Cage, Unavailable
from footplate.replica.isolation.spawn import SpawnFailed, spawn

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence

KINDS = ("cgroup2", "freezer")
"""Hierarchies that can kill: the unified one by itself, version 1's freezer with our help."""
_PAUSE_S = 0.002


class CgroupCage(Cage):
    name = "cgroup"
    guarantee = "everything the program starts is killed by its control group"

    def __init__(self, groups: list[str], killer: str) -> None:
        """``groups`` are all directories of the program, ``killer`` the one that kills."""
        self.groups = groups
        self._killer = killer

    @classmethod
    def open(cls, name: str, kinds: Sequence[str] = KINDS) -> CgroupCage:
        """Make groups called ``name``, in the first kind of hierarchy that lets us.

        Raises Unavailable.
        """
        hierarchies = dict(_find_hierarchies())
        reasons = []
        for kind in kinds:
            if kind not in hierarchies:
                reasons.append(f"no {kind} hierarchy is mounted")
                continue
            try:
                killer = _make(hierarchies[kind], name)
            except OSError as error:
                reasons.append(f"{kind}: {error.strerror}")
                continue
            cage = cls([killer], killer)
            try:
                cage._probe(kind)
            except (OSError, SpawnFailed) as error:
                reasons.append(f"{kind}: {error}")
                cage.close()
                continue
            cage._add_memory(hierarchies, name)
            return cage
        raise Unavailable("; ".join(reasons))

    @classmethod
    def reopen(cls, record: dict[str, Any]) -> CgroupCage:
        return cls(list(record["groups"]), record["killer"])

    def record(self) -> dict[str, object]:
        return {"groups": self.groups, "killer": self._killer}

    def kill(self) -> bool:
        if not os.path.isdir(self._killer):
            return True
        if os.path.exists(os.path.join(self._killer, "cgroup.kill")):
            return _kill_unified(self._killer)
        return _kill_frozen(self._killer)

    def oom_kills(self) -> int:
        return sum(
            _read_counter(os.path.join(group, name), "oom_kill")
            for group in self.groups
            for name in ("memory.events", "memory.oom_control")
        )

    def close(self) -> None:
        for group in self.groups:
            for directory, _, _ in os.walk(group, topdown=False):
                _remove(directory)

    def _join(self) -> None:
        for group in self.groups:
            _write(os.path.join(group, "cgroup.procs"), "0")

    def _probe(self, kind: str) -> None:
        """Kill a child that does nothing; raises if the group doesn't."""
        if kind == "cgroup2" and not os.path.exists(os.path.join(self._killer, "cgroup.kill")):
            raise FileNotFoundError("the kernel has no cgroup.kill")

        def body(ready: int) -> None:
            self._join()
            os.close(ready)
            signal.pause()

        pid = spawn(body)
        try:
            if not self.kill():
                raise TimeoutError("a child survived")
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _add_memory(self, hierarchies: dict[str, str], name: str) -> None:
        """Best effort: without it being out of memory isn't recognised."""
        if "memory" in hierarchies:
            try:
                self.groups.append(_make(hierarchies["memory"], name))
            except OSError:
                return


def _find_hierarchies() -> Iterator[tuple[str, str]]:
    """Where our own group is in each hierarchy of interest: cgroup2, freezer, memory."""
    try:
        own = dict(_read_own_groups())
        with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    for line in lines:
        before, _, after = line.partition(" - ")
        point, (filesystem, _, options) = before.split()[4], after.split(" ", 2)
        kinds = ["cgroup2"] if filesystem == "cgroup2" else options.split(",")
        for kind in kinds if filesystem.startswith("cgroup") else ():
            if kind in own:
                here = point + own[kind].rstrip("/")
                yield kind, here if os.path.isdir(here) else point


def _read_own_groups() -> Iterator[tuple[str, str]]:
    with open("/proc/self/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            number, controllers, path = line.rstrip("\n").split(":", 2)
            for kind in ["cgroup2"] if number == "0" else controllers.split(","):
                yield kind, path


def _make(parent: str, name: str) -> str:
    path = os.path.join(parent, name)
    os.makedirs(path, exist_ok=True)
    return path


def _kill_unified(group: str) -> bool:
    """cgroup.kill reaches all below at once, also those being forked; then wait until empty."""
    _write(os.path.join(group, "cgroup.kill"), "1")
    end = time.monotonic() + KILL_PATIENCE_S
    with open(os.path.join(group, "cgroup.events"), encoding="ascii") as file:
        poller = select.poll()
        poller.register(file, select.POLLPRI)
        while "populated 1" in file.read():
            left_s = end - time.monotonic()
            if left_s <= 0:
                return False
            poller.poll(left_s * 1000)
            file.seek(0)
    return True


def _kill_frozen(group: str) -> bool:
    """Freeze all, so that none can fork; kill, thaw, and look again."""
    end = time.monotonic() + KILL_PATIENCE_S
    state = os.path.join(group, "freezer.state")
    while True:
        _write(state, "FROZEN")
        while _read(state).strip() != "FROZEN" and time.monotonic() < end:
            time.sleep(_PAUSE_S)
        pids = list(_list_processes(group))
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        _write(state, "THAWED")
        if not pids:
            return True
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE_S)


def _list_processes(group: str) -> Iterator[int]:
    for directory, _, _ in os.walk(group):
        for word in _read(os.path.join(directory, "cgroup.procs")).split():
            yield int(word)


def _remove(directory: str) -> None:
    """A group that was emptied just now may be busy for a moment."""
    end = time.monotonic() + 1.0
    while True:
        try:
            os.rmdir(directory)
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() >= end:
                return
            time.sleep(_PAUSE_S)
        else:
            return


def _read_counter(path: str, name: str) -> int:
    try:
        words = _read(path).split()
        return int(words[words.index(name) + 1])
    except (OSError, ValueError, IndexError):
        return 0


def _read(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
