"""The control group hierarchies of this machine, and where this process is in each."""

from __future__ import annotations

import os

from footplate.replica.small_files import read_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator

KINDS = frozenset(("cgroup2", "freezer", "memory", "cpu", "cpuacct"))
"""The unified one, and of version 1 those that anybody here has a use for."""


class Hierarchy:
    """``point`` is where it is mounted, ``own`` the directory of this process's group in it."""

    __slots__ = ("own", "point")

    def __init__(self, point: str, own: str) -> None:
        self.point = point
        self.own = own

    def chain(self) -> Iterator[str]:
        """The own group and those above it, as far as they are mounted here."""
        group = self.own
        while True:
            yield group
            if group == self.point or not group.startswith(self.point):
                return
            group = os.path.dirname(group)


def find_hierarchies() -> dict[str, Hierarchy]:
    """By kind: ``cgroup2`` for the unified one, version 1's by each of their controllers."""
    try:
        own = dict(_read_own_groups())
        lines = read_text("/proc/self/mountinfo").splitlines()
    except OSError:
        return {}
    return dict(_read_mounts(lines, own))


def _read_mounts(lines: list[str], own: dict[str, str]) -> Iterator[tuple[str, Hierarchy]]:
    for line in lines:
        before, _, after = line.partition(" - ")
        point, (filesystem, _, options) = before.split()[4], after.split(" ", 2)
        kinds = ["cgroup2"] if filesystem == "cgroup2" else options.split(",")
        for kind in kinds if filesystem.startswith("cgroup") else ():
            if kind in own and kind in KINDS:
                here = point + own[kind].rstrip("/")
                yield kind, Hierarchy(point, here if os.path.isdir(here) else point)


def _read_own_groups() -> Iterator[tuple[str, str]]:
    for line in filter(None, read_text("/proc/self/cgroup").split("\n")):
        number, controllers, path = line.split(":", 2)
        for kind in ["cgroup2"] if number == "0" else controllers.split(","):
            yield kind, path
