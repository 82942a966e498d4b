"""Waiting claims in the order in which a round looks at them."""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from footplate.domain.admission.claims import Claim
    from footplate.domain.admission.ladder import Group, Ladder, Step
    from footplate.domain.admission.lines import Line
    from footplate.domain.admission.tickets import Shape
    from footplate.domain.names import JobUid

Rank = tuple[int, float, float, "JobUid"]
"""(0, 0, arrived, uid) of one whose patience has run out, (1, share, arrived, uid) of others."""
Candidate = tuple[int, Rank, "Group"]
"""With its priority, negated: the smallest comes first."""


class Order:
    """What the order goes by in one round, whose ``number`` no other round has.

    ``impatient_before``: who arrived earlier yields to no share.
    """

    __slots__ = ("impatient_before", "now", "number", "shares")

    def __init__(
        self, shares: Mapping[str, float], now: float, patience_s: float, number: int
    ) -> None:
        self.shares = shares
        self.now = now
        self.impatient_before = now - patience_s
        self.number = number

    def rank(self, claim: Claim) -> Rank:
        if claim.arrived < self.impatient_before:
            return 0, 0.0, claim.arrived, claim.uid
        return 1, self.shares.get(claim.project, 0.0), claim.arrived, claim.uid


class Walk:
    """The groups of a ladder, one after another, while heads start and shares grow.

    ``only_live``: those whose form can't start any more don't count.

    Within a round a rank only ever grows, so what was passed needn't be looked at again, and of
    each project only its first need be compared.
    """

    __slots__ = ("_old", "_only_live", "_order", "_steps", "_young")

    def __init__(self, ladder: Ladder, order: Order, *, only_live: bool) -> None:
        self._only_live = only_live
        self._steps = list(reversed(ladder.steps.items()))
        self._order = order
        self._old = 0
        self._young: list[tuple[float, float, JobUid, str, int]] | None = None

    def peek(self) -> Candidate | None:
        """The first group that the round hasn't passed over; None: there is no more."""
        while self._steps:
            priority, step = self._steps[-1]
            found = self._impatient(step) or self._patient(step)
            if found is not None:
                return (-priority, *found)
            self._steps.pop()
            self._old, self._young = 0, None
        return None

    def _passed(self, group: Group) -> bool:
        number = self._order.number
        if group.account.spent_in == number or group.passed_in == number:
            return True
        return self._only_live and not group.form.is_live(self._order.now)

    def _impatient(self, step: Step) -> tuple[Rank, Group] | None:
        heads, before = step.heads, self._order.impatient_before
        while self._old < len(heads):
            arrived, uid, group = heads[self._old]
            if arrived >= before:
                return None
            if not self._passed(group):
                return (0, 0.0, arrived, uid), group
            self._old += 1
        return None

    def _patient(self, step: Step) -> tuple[Rank, Group] | None:
        shares = self._order.shares
        if self._young is None:
            self._young = self._by_share(step)
        young = self._young
        while young:
            share, arrived, uid, project, index = young[0]
            heads = step.of_project.get(project, ())
            while index < len(heads) and self._passed(heads[index][2]):
                index += 1
            if index == len(heads):
                heappop(young)
                continue
            current = (shares.get(project, 0.0), *heads[index][:2], project, index)
            if current[:3] == (share, arrived, uid):
                return (1, share, arrived, uid), heads[index][2]
            heapreplace(young, current)
        return None

    def _by_share(self, step: Step) -> list[tuple[float, float, JobUid, str, int]]:
        """A heap of the first of each project."""
        shares = self._order.shares
        heap = [
            (shares.get(project, 0.0), *heads[0][:2], project, 0)
            for project, heads in step.of_project.items()
        ]
        heapify(heap)
        return heap


class LineWalk:
    """The groups of a line; once it has reserved, only those that could still start."""

    __slots__ = ("_line", "_order", "_walk", "_walks", "reserved")

    def __init__(self, line: Line, order: Order) -> None:
        self._line = line
        self._order = order
        self._walk = Walk(line.ladder, order, only_live=False)
        self._walks: list[tuple[Shape, Walk]] = []
        self.reserved = False

    def reserve(self, live: Iterable[Shape]) -> None:
        """``live``: the shapes that could still start, of this line or others."""
        self.reserved = True
        ladders = self._line.ladders
        self._walks = [
            (shape, Walk(ladders[shape], self._order, only_live=True))
            for shape in live
            if shape in ladders
        ]

    def peek(self) -> Candidate | None:
        if not self.reserved:
            return self._walk.peek()
        now = self._order.now
        first: Candidate | None = None
        for shape, walk in self._walks:
            found = walk.peek() if shape.is_live(now) else None
            if found is not None and (first is None or found < first):
                first = found
        return first
