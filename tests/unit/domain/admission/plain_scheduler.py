"""The rules of admission, spelled out: as slow as can be, and easy to check by reading.

Everything is worked out anew from who holds and who waits, at every decision.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.admission import Claim
    from footplate.domain.names import JobUid
    from footplate.domain.quotas import Quotas
    from footplate.domain.resources import Amounts

Resource = tuple[str, ...]
"""(site, resource), or (project, region, resource) of a quota."""


@dataclass(frozen=True)
class Span:
    """A job that holds, or that is promised to, between two moments."""

    claim: Claim
    begin: float
    end: float


class PlainScheduler:
    def __init__(self, capacity: dict[str, Amounts], quotas: Quotas, patience_s: float) -> None:
        self.capacity = capacity
        self.quotas = quotas
        self.patience_s = patience_s
        self.waiting: dict[JobUid, Claim] = {}
        self.holding: dict[JobUid, Span] = {}

    def admit(self, site: str, now: float) -> list[JobUid]:
        started: list[JobUid] = []
        while found := PlainRound(self, site, now).run():
            started += found
        return started

    def total(self, resource: Resource) -> float:
        if len(resource) == 2:
            return self.capacity[resource[0]].get(resource[1], 0)
        limit = self.quotas.limit(*resource)
        return float("inf") if limit is None else limit

    def share(self, project: str, site: str) -> float:
        capacity = self.capacity[site]
        held = [s.claim for s in self.holding.values()]
        own = [claim for claim in held if claim.project == project and claim.site == site]
        return max(
            (sum(claim.holds.get(r, 0) for claim in own) / n for r, n in capacity.items() if n),
            default=0.0,
        )

    def rank(self, claim: Claim, now: float) -> tuple[float, ...]:
        if claim.arrived < now - self.patience_s:
            return (0, 0.0, claim.arrived)
        return (1, self.share(claim.project, claim.site), claim.arrived)


def needs(claim: Claim) -> dict[Resource, int]:
    return site_needs(claim) | quota_needs(claim)


def site_needs(claim: Claim) -> dict[Resource, int]:
    return {(claim.site, r): n for r, n in claim.holds.items() if n}


def quota_needs(claim: Claim) -> dict[Resource, int]:
    return {(claim.project, claim.region, r): n for r, n in claim.counts.items() if n}


class PlainRound:
    def __init__(self, scheduler: PlainScheduler, site: str, now: float) -> None:
        self.scheduler = scheduler
        self.site = site
        self.now = now
        self.promised: dict[str, Span] = {}
        """By line."""
        self.started: list[JobUid] = []

    def run(self) -> list[JobUid]:
        here = (c for c in self.scheduler.waiting.values() if c.site == self.site)
        ahead = [c for c in here if self.is_possible(c)]
        while ahead := [c for c in ahead if not self.is_past(c)]:
            claim = self.next(ahead)
            ahead.remove(claim)
            self.consider(claim)
        return self.started

    def is_past(self, claim: Claim) -> bool:
        """Whether its site has no room for it, nor its line another promise: it keeps nobody of
        its line from being the first.
        """
        short = (resource for resource in self.short_of(claim) if len(resource) == 2)
        return claim.accelerator in self.promised and any(short)

    def next(self, ahead: list[Claim]) -> Claim:
        """The first of each line, and of these the first."""

        def rank(claim: Claim) -> tuple[object, ...]:
            return (*self.scheduler.rank(claim, self.now), claim.uid)

        lines = {claim.accelerator for claim in ahead}
        firsts = [
            min((c for c in ahead if c.accelerator == line), key=lambda c: (-c.priority, rank(c)))
            for line in lines
        ]
        return min(firsts, key=rank)

    def is_possible(self, claim: Claim) -> bool:
        return all(n <= self.scheduler.total(r) for r, n in site_needs(claim).items())

    def consider(self, claim: Claim) -> None:
        if any(n > self.free_now(r) for r, n in quota_needs(claim).items()):
            return
        short = self.short_of(claim)
        if not short:
            self.start(claim)
        elif any(len(resource) == 2 for resource in short):
            self.promise(claim)

    def start(self, claim: Claim) -> None:
        del self.scheduler.waiting[claim.uid]
        self.scheduler.holding[claim.uid] = Span(claim, self.now, self.now + claim.longest_s)
        self.started.append(claim.uid)

    def short_of(self, claim: Claim) -> set[Resource]:
        """What there isn't enough of now, or at a promised moment before the job's end."""
        now_short = {r for r, n in needs(claim).items() if n > self.free_now(r)}
        end = self.now + claim.longest_s
        moments = [s.begin for s in self.promised.values() if s.begin < end]
        later = {r for t in moments for r, n in needs(claim).items() if n > self.free_at(r, t)}
        return now_short | later

    def promise(self, claim: Claim) -> None:
        if claim.accelerator in self.promised:
            return
        at = next(t for t in self.moments() if self.has_room(claim, t))
        self.promised[claim.accelerator] = Span(claim, at, at + claim.longest_s)

    def moments(self) -> Iterator[float]:
        """When room may appear."""
        ends = {span.end for span in (*self.scheduler.holding.values(), *self.promised.values())}
        yield from sorted({self.now} | {end for end in ends if end > self.now})

    def has_room(self, claim: Claim, at: float) -> bool:
        end = at + claim.longest_s
        begins = [s.begin for s in self.promised.values() if at < s.begin < end]
        return all(n <= self.free_at(r, t) for t in (at, *begins) for r, n in needs(claim).items())

    def free_now(self, resource: Resource) -> float:
        """What nobody holds, whether or not it should have ended."""
        held = (needs(span.claim).get(resource, 0) for span in self.scheduler.holding.values())
        return self.scheduler.total(resource) - sum(held)

    def free_at(self, resource: Resource, at: float) -> float:
        """What nobody will hold then, if each ends as late as it may, nor is promised."""
        holding = [span for span in self.scheduler.holding.values() if span.end > at]
        promised = [span for span in self.promised.values() if span.begin <= at < span.end]
        spans = (*holding, *promised)
        return self.scheduler.total(resource) - sum(needs(s.claim).get(resource, 0) for s in spans)
