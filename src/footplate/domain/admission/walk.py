"""The claims of one line in the order in which a round looks at them."""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.admission.lines import Group, Level, Line
    from footplate.domain.names import JobUid

Rank = tuple[int, float, float, "JobUid"]
"""(0, 0, arrived, uid) of one whose patience has run out, (1, share, arrived, uid) of others."""
Candidate = tuple[Rank, "Group"]


class Walk:
    """Finds the next group again and again, while heads start and shares grow.

    Within a round a rank only ever grows, so what was looked at once needn't be looked at again
    unless it is the first. ``impatient_before``: who arrived earlier yields to no share.
    """

    def __init__(
        self, line: Line, shares: Mapping[str, float], impatient_before: float, number: int
    ) -> None:
        self._levels = iter(tuple(line.levels.values()))
        self._shares = shares
        self._impatient_before = impatient_before
        self._number = number
        self.only_live = False
        """Whether groups that can't start any more are of no interest: the line has reserved."""
        self._level: Level | None = next(self._levels)
        self._old = 0
        self._young: list[tuple[float, float, JobUid, str, int]] | None = None

    def peek(self) -> Candidate | None:
        """The first of the line that the round hasn't passed over; None: there is no more."""
        while self._level is not None:
            found = self._impatient(self._level) or self._patient(self._level)
            if found is not None:
                return found
            self._level, self._old, self._young = next(self._levels, None), 0, None
        return None

    def _passed(self, group: Group) -> bool:
        if self.only_live and not group.form.live:
            return True
        return self._number in (group.account.spent_in, group.passed_in)

    def _impatient(self, level: Level) -> Candidate | None:
        heads = level.heads
        while self._old < len(heads):
            arrived, uid, group = heads[self._old]
            if arrived >= self._impatient_before:
                return None
            if not self._passed(group):
                return (0, 0.0, arrived, uid), group
            self._old += 1
        return None

    def _patient(self, level: Level) -> Candidate | None:
        if self._young is None:
            self._young = self._by_share(level)
        young = self._young
        while young:
            share, arrived, uid, project, index = young[0]
            heads = level.of_project.get(project, [])
            while index < len(heads) and self._passed(heads[index][2]):
                index += 1
            if index == len(heads):
                heappop(young)
                continue
            current = (self._shares.get(project, 0.0), *heads[index][:2], project, index)
            if current[:3] == (share, arrived, uid):
                return (1, share, arrived, uid), heads[index][2]
            heapreplace(young, current)
        return None

    def _by_share(self, level: Level) -> list[tuple[float, float, JobUid, str, int]]:
        """A heap of the first of each project in this level."""
        shares = self._shares
        heap = [
            (shares.get(project, 0.0), *heads[0][:2], project, 0)
            for project, heads in level.of_project.items()
        ]
        heapify(heap)
        return heap
