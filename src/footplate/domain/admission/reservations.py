"""Reserves capacity at a later moment for those that come first, and guards it from others.

What is free of a site never shrinks between the beginnings of two reservations, as everything that
runs only ends. So a job that would start now delays nobody if it fits at the beginning of each
reservation during which it would still run, beside the job that the reservation is for.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.free_capacity import (
    FreeCapacity,
    Needs,
    Resource,
    quota_needs,
    site_needs,
)
from footplate.domain.admission.site_state import RunningJob


@dataclass(eq=False, slots=True)
class Reservation:
    """Capacity that is reserved for a waiting job.

    ``at`` is the earliest moment at which the job certainly has room, ``until`` its latest end.
    """

    claim: Claim
    needs: Needs
    amounts: dict[Resource, int]
    at: float
    until: float
    left: dict[Resource, float]
    """How much of what the job needs others may hold at that moment."""

    def is_exceeded_by(self, needs: Needs) -> bool:
        left = self.left
        # A loop: any() over a generator takes three times as long, and this is called often.
        for resource, amount in needs:  # noqa: SIM110
            if resource in left and left[resource] < amount:
                return True
        return False


class Reservations:
    """The reservations of one site in one round, in the order in which they were made."""

    def __init__(self, free: FreeCapacity, running: Sequence[RunningJob], now: float) -> None:
        """Begins without reservations; ``free`` and ``running`` change while jobs start."""
        self._free = free
        self._running = running
        self._now = now
        self._releases: dict[Resource, tuple[list[float], list[int]]] = {}
        self.made: list[Reservation] = []

    def of(self, accelerator: str) -> Reservation | None:
        return next((each for each in self.made if each.claim.accelerator == accelerator), None)

    def delayed_by(self, needs: Needs, begin: float, end: float) -> Reservation | None:
        """Returns the first reservation that a job with these needs would delay; None: none.

        The job would run from ``begin`` to ``end``.
        """
        for reservation in self.made:
            if begin <= reservation.at < end and reservation.is_exceeded_by(needs):
                return reservation
        return None

    def see_start(self, needs: Needs, end: float) -> None:
        """Records the start of a job that runs until ``end`` at the latest."""
        self._releases.clear()
        self._take(needs, self._now, end)

    def _take(self, needs: Needs, begin: float, end: float) -> None:
        """Subtracts a job's needs from each reservation between ``begin`` and ``end``."""
        for reservation in self.made:
            if begin <= reservation.at < end:
                for resource, amount in needs:
                    if resource in reservation.left:
                        reservation.left[resource] -= amount

    def make(self, claim: Claim) -> None:
        needs = site_needs(claim) + quota_needs(claim)
        at = self._earliest(needs, claim.longest_s)
        until = at + claim.longest_s
        left = {resource: self._free_at(resource, at) - amount for resource, amount in needs}
        self._take(needs, at, until)
        self.made.append(Reservation(claim, needs, dict(needs), at, until, left))

    def _earliest(self, needs: Needs, longest_s: float) -> float:
        """Returns when ``needs`` first stay free for ``longest_s`` seconds; infinite: never."""
        at = max(self._now, *(self._first_release(*need) for need in needs), -math.inf)
        while at < math.inf:
            delayed = self.delayed_by(needs, at, at + longest_s)
            if delayed is not None:
                # A job that begins at or before the delayed one's moment is still there then.
                at = self._next_change(needs, delayed.at)
            elif any(self._free_at(resource, at) < amount for resource, amount in needs):
                at = self._next_change(needs, at)
            else:
                return at
        return at

    def _free_at(self, resource: Resource, at: float) -> float:
        """Returns the amount that is free at a moment if all jobs end as late as possible."""
        ends, sums = self._released(resource)
        count = bisect_right(ends, at)
        active = (each for each in self.made if each.at <= at < each.until)
        reserved = sum(each.amounts.get(resource, 0) for each in active)
        return self._free[resource] + (sums[count - 1] if count else 0) - reserved

    def _first_release(self, resource: Resource, amount: int) -> float:
        """Returns the time by which ends of running jobs leave ``amount`` of a resource free."""
        short = amount - self._free[resource]
        if short <= 0:
            return -math.inf
        ends, sums = self._released(resource)
        index = bisect_left(sums, short)
        return ends[index] if index < len(ends) else math.inf

    def _next_change(self, needs: Needs, after: float) -> float:
        """Returns the first moment after ``after`` at which more of a needed resource is free."""
        return min((end for end in self._ends(needs, after) if end > after), default=math.inf)

    def _ends(self, needs: Needs, after: float) -> Iterator[float]:
        yield from (reservation.until for reservation in self.made)
        for resource, _ in needs:
            ends, _ = self._released(resource)
            yield from ends[bisect_right(ends, after) :][:1]

    def _released(self, resource: Resource) -> tuple[list[float], list[int]]:
        """Returns when jobs that hold the resource end, and the sums that are released by then."""
        found = self._releases.get(resource)
        if found is None:
            held = sorted(
                (job.end, job.amounts[resource]) for job in self._running if resource in job.amounts
            )
            ends, sums = [end for end, _ in held], list(accumulate(n for _, n in held))
            found = self._releases[resource] = ends, sums
        return found
