"""The reasons why a job waits, as values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.free_capacity import (
    FreeCapacity,
    Needs,
    Resource,
    quota_needs,
    site_needs,
)
from footplate.domain.admission.reservations import Reservation, Reservations
from footplate.domain.admission.scheduling_cycle import SchedulingCycle


@dataclass(frozen=True)
class Shortage:
    """A resource of which less is free than the job asks for."""

    resource: str
    asked: int
    held: int
    total: int

    @property
    def free(self) -> int:
        return max(0, self.total - self.held)


@dataclass(frozen=True)
class TooLarge:
    """The job asks for more than its site has altogether."""

    shortages: tuple[Shortage, ...]


@dataclass(frozen=True)
class OverQuota:
    """The job's project would hold more than its quota allows if the job ran."""

    shortages: tuple[Shortage, ...]


@dataclass(frozen=True)
class NoRoom:
    """The site lacks free resources.

    ``holders`` are the jobs that hold the scarcest resource, the largest amount first.
    """

    shortages: tuple[Shortage, ...]
    holders: tuple[tuple[Claim, int], ...]


@dataclass(frozen=True)
class Behind:
    """The job fits, but its start would delay a job that comes before it.

    ``shortages`` are the resources that the other job (``first``) waits for, ``at`` is the moment
    at which that job is promised to start.
    """

    first: Claim
    shortages: tuple[Shortage, ...]
    at: float


@dataclass(frozen=True)
class Soon:
    """The job lacks nothing, and starts soon."""


Why = TooLarge | OverQuota | NoRoom | Behind | Soon


def why_waiting(claim: Claim, cycle: SchedulingCycle, reservations: Reservations) -> Why:
    """Returns why a job hasn't started in a cycle that ended with these reservations."""
    free, now = cycle.free, cycle.now
    of_site, of_quota = site_needs(claim), quota_needs(claim)
    if any(free.total(resource) < amount for resource, amount in of_site):
        return TooLarge(_shortages(free, of_site, of_all=True))
    if not free.fits(of_quota):
        return OverQuota(_shortages(free, of_quota))
    if not free.fits(of_site):
        return NoRoom(_shortages(free, of_site), _holders(cycle, of_site))
    first = reservations.delayed_by(of_site + of_quota, now, now + claim.longest_s)
    if first is None:
        return Soon()
    return Behind(first.claim, _shortages(free, site_needs(first.claim)), first.at)


def promise(claim: Claim, cycle: SchedulingCycle, reservations: Reservations) -> float | None:
    """Returns the latest moment at which the job starts; None: it can't be promised.

    A promise needs that every job whose end it depends on has a time limit that its user asked for.
    """
    made = reservations.made
    for index, reservation in enumerate(made):
        if reservation.claim is claim:
            return reservation.at if _certain(reservation, made[:index], cycle) else None
    return None


def _certain(reservation: Reservation, before: list[Reservation], cycle: SchedulingCycle) -> bool:
    """Returns whether a reservation depends only on ends of jobs with a requested time limit."""
    at, free = reservation.at, cycle.free
    if at == math.inf:
        return False
    # With reservations made before, it may count on an end of anything that it needs.
    limited = ((name, amount) for name, amount in reservation.needs if free.total(name) < math.inf)
    counts = {name for name, amount in limited if before or amount > free[name]}
    holders = ((job.claim, job.amounts) for job in cycle.running if job.end <= at)
    others = ((other.claim, other.amounts) for other in before if other.until <= at)
    return all(
        claim.bounded for claim, amounts in (*holders, *others) if counts & amounts.keys()
    ) and all(_certain(r, before[:i], cycle) for i, r in enumerate(before) if r.until <= at)


def _shortages(free: FreeCapacity, needs: Needs, *, of_all: bool = False) -> tuple[Shortage, ...]:
    """Returns the resources of which less is free than needed, the scarcest first.

    The scarcest resource has the smallest available share of the amount asked for. ``of_all``
    compares the needs with the site's total instead of its free amounts.
    """
    available = {name: free.total(name) if of_all else free[name] for name, _ in needs}
    short = [(name, amount) for name, amount in needs if available[name] < amount]
    short.sort(key=lambda need: (available[need[0]] / need[1], _resource(need[0])))
    return tuple(
        Shortage(_resource(name), amount, int(free.total(name) - free[name]), int(free.total(name)))
        for name, amount in short
    )


def _resource(name: Resource) -> str:
    return name if isinstance(name, str) else name[2]


def _holders(cycle: SchedulingCycle, needs: Needs) -> tuple[tuple[Claim, int], ...]:
    """Returns the jobs that hold the scarcest needed resource, with amounts, the largest first."""
    scarcest, _ = min(needs, key=lambda need: (cycle.free[need[0]] / need[1], need[0]))
    held = [(j.claim, j.amounts[scarcest]) for j in cycle.running if scarcest in j.amounts]
    return tuple(sorted(held, key=lambda pair: (-pair[1], pair[0].name, pair[0].uid)))
