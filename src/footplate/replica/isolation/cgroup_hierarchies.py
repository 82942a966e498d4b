"""Finds the control group hierarchies, and this process's place in them."""

from __future__ import annotations

import functools
import os

from footplate.replica.file_io import read_text
from footplate.replica.isolation.procfs import UNSEEN

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator

KINDS = frozenset(("cgroup2", "freezer", "memory", "cpu", "cpuacct", "pids"))
"""The unified one, and of version 1 those that anybody here has a use for."""


class Hierarchy:
    """A hierarchy of control groups. ``point`` is where it is mounted, ``own`` the directory of
    this process's group in it.
    """

    __slots__ = ("own", "point")

    def __init__(self, point: str, own: str) -> None:
        self.point = point
        self.own = own

    def chain(self) -> Iterator[str]:
        """Yields the own group and those above it, as far as they are mounted here."""
        group = self.own
        while True:
            yield group
            if group == self.point or not group.startswith(self.point):
                return
            group = os.path.dirname(group)


def find_hierarchies() -> dict[str, Hierarchy]:
    """Returns hierarchies by kind: ``cgroup2`` for the unified one, version 1's by controller."""
    try:
        places = _parse(read_text("/proc/self/mountinfo"), read_text("/proc/self/cgroup"))
    except UNSEEN:
        return {}
    return {
        kind: Hierarchy(point, own if os.path.isdir(own) else point) for kind, point, own in places
    }


def find_groups(pid: int) -> list[str]:
    """Returns the directories of the groups that a process is in, as far as mounted here."""
    try:
        mounts, groups = read_text("/proc/self/mountinfo"), read_text(f"/proc/{pid}/cgroup")
    except UNSEEN:
        return []
    own = dict(_parse_groups(groups))
    found = (point + own[kind] for kind, point in _parse_mounts(mounts) if kind in own)
    return [path for path in dict.fromkeys(found) if path.strip("/") and os.path.isdir(path)]


@functools.lru_cache(maxsize=1)
def _parse(mounts: str, groups: str) -> list[tuple[str, str, str]]:
    """Returns kind, mount point and own group of each hierarchy; the result is kept, because it
    rarely changes.
    """
    own = dict(_parse_groups(groups))
    return [
        (kind, point, point + own[kind].rstrip("/"))
        for kind, point in _parse_mounts(mounts)
        if kind in own and kind in KINDS
    ]


def _parse_mounts(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        point, (filesystem, _, options) = before.split()[4], after.split(" ", 2)
        kinds = ["cgroup2"] if filesystem == "cgroup2" else options.split(",")
        for kind in kinds if filesystem.startswith("cgroup") else ():
            yield kind, point


def _parse_groups(text: str) -> Iterator[tuple[str, str]]:
    for line in filter(None, text.split("\n")):
        number, controllers, path = line.split(":", 2)
        for kind in ["cgroup2"] if number == "0" else controllers.split(","):
            yield kind, path
