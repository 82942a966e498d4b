"""Computes from the state of one site which jobs start now, and who has a reservation."""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.free_capacity import FreeCapacity
from footplate.domain.admission.reservations import Reservations
from footplate.domain.admission.site_state import Group, SiteState, running_job
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quotas

Rank = tuple[int, float, float, "JobUid"]
"""(0, 0, arrival, id) of a job whose patience has run out, (1, share, arrival, id) of others."""
Candidate = tuple[int, int, float, float, "JobUid", "Group"]
"""The priority, negated, and the rank of the first of a group."""


class SchedulingCycle:
    """A plan of which jobs start on one site; it doesn't change the site's state."""

    def __init__(self, site: SiteState, quotas: Quotas, now: float, patience_s: float) -> None:
        self.site = site
        self.now = now
        self.impatient_before = now - patience_s
        self.free = FreeCapacity(site.capacity, quotas)
        self.running = list(site.running.values())
        self.started: list[Claim] = []
        self.started_of: dict[Group, int] = {}
        """How many of a group have started."""
        self.shares: dict[str, float] = {}
        """By project: the largest part that it holds of any of the site's resources."""
        self._held: dict[tuple[str, str], int] = {}
        for job in self.running:
            self.free.take(job.needs)
            self._hold(job.claim)

    def run(self) -> None:
        """Runs rounds until no more jobs start: each start changes the shares, and so the order."""
        while _Round(self).run():
            pass

    def reservations(self) -> Reservations:
        """Returns the reservations that exist when no more jobs can start."""
        last = _Round(self, thorough=True)
        last.run()
        return last.reservations

    def start(self, group: Group) -> None:
        index = self.started_of.get(group, 0)
        claim = group.entries[index][2]
        self.started_of[group] = index + 1
        self.started.append(claim)
        self.running.append(running_job(claim, self.now))
        self.free.take(group.needs)
        self._hold(claim)

    def _hold(self, claim: Claim) -> None:
        project, share = claim.project, self.shares.get(claim.project, 0.0)
        for name, amount in claim.holds.items():
            held = self._held[project, name] = self._held.get((project, name), 0) + amount
            total = self.site.capacity.get(name, 0)
            share = max(share, held / total) if total else share
        self.shares[project] = share


class _Round:
    """One round, which considers the first job of each queue, in the order of their ranks.

    Within a round capacity only shrinks and ranks only grow. So a group that can't start once can't
    start later, and a rank that was computed before is a lower bound. The jobs of a group that a
    quota holds up are still considered one by one: they don't start, but they keep their places
    before others.
    """

    def __init__(self, cycle: SchedulingCycle, *, thorough: bool = False) -> None:
        """Prepares a round; ``thorough`` finds all reservations, even if no more jobs can start."""
        self._cycle = cycle
        self._thorough = thorough
        self._ready: list[Group] = []
        """Those that may still start; the last one fits into what is free."""
        self._held_up: set[Group] = set()
        self._next = dict(cycle.started_of)
        """How many of a group have started, or had their turn."""
        self._queues: dict[str, list[Candidate]] = {}
        """By accelerator, a heap each."""
        self.reservations = Reservations(cycle.free, cycle.running, cycle.now)

    def run(self) -> bool:
        """Starts the jobs that fit; returns whether it started any."""
        before = len(self._cycle.started)
        waiting = [
            group
            for group in self._cycle.site.groups.values()
            if group.possible and len(group.entries) > self._next.get(group, 0)
        ]
        fits = self._cycle.free.fits
        self._ready = [group for group in waiting if fits(group.needs)]
        if self._ready or self._thorough:
            for group in waiting:
                self._queues.setdefault(group.accelerator, []).append(self._candidate(group))
            for queue in self._queues.values():
                heapify(queue)
            self._consider_all()
        return len(self._cycle.started) > before

    def _consider_all(self) -> None:
        firsts = {name: self._first(name) for name in self._queues}
        while self._thorough or self._any_ready():
            found = min((each for each in firsts.values() if each), key=_rank, default=None)
            if found is None:
                return
            group = found[-1]
            changed = self._consider(group)
            for name in firsts if changed else (group.accelerator,):
                firsts[name] = self._first(name)

    def _any_ready(self) -> bool:
        ready, fits = self._ready, self._cycle.free.fits
        while ready and (ready[-1] in self._held_up or not fits(ready[-1].needs)):
            ready.pop()
        return bool(ready)

    def _candidate(self, group: Group) -> Candidate:
        arrived, uid, _ = group.entries[self._next.get(group, 0)]
        if arrived < self._cycle.impatient_before:
            return -group.priority, 0, 0.0, arrived, uid, group
        share = self._cycle.shares.get(group.project, 0.0)
        return -group.priority, 1, share, arrived, uid, group

    def _first(self, accelerator: str) -> Candidate | None:
        """Returns the first job of a queue; None: the queue is empty.

        Once the queue has a reservation, jobs that the site has no room for are skipped.
        """
        queue = self._queues[accelerator]
        reserved = self.reservations.of(accelerator) is not None
        while queue:
            group = queue[0][-1]
            if reserved and self._is_short_of_site(group):
                heappop(queue)
                continue
            current = self._candidate(group)
            if current[:-1] == queue[0][:-1]:
                return current
            heapreplace(queue, current)
        return None

    def _is_short_of_site(self, group: Group) -> bool:
        now, needs = self._cycle.now, group.site_needs
        return (
            not self._cycle.free.fits(needs)
            or self.reservations.delayed_by(needs, now, now + group.longest_s) is not None
        )

    def _is_held_up_by_quota(self, group: Group) -> bool:
        now, needs = self._cycle.now, group.quota_needs
        return self.reservations.delayed_by(needs, now, now + group.longest_s) is not None

    def _consider(self, group: Group) -> bool:
        """Starts the group's first job, or reserves capacity for it; returns if it did either."""
        # The quota comes before the site: a job that only the quota of its project holds up
        # reserves nothing, or it would hold up other projects.
        if group in self._held_up or not self._cycle.free.fits(group.quota_needs):
            self._held_up.add(group)
            self._advance(group)
            return False
        if self._is_short_of_site(group):
            self.reservations.make(group.entries[self._next.get(group, 0)][2])
            return True
        if self._is_held_up_by_quota(group):
            self._held_up.add(group)
            self._advance(group)
            return False
        self._cycle.start(group)
        self.reservations.see_start(group.needs, self._cycle.now + group.longest_s)
        self._advance(group)
        return True

    def _advance(self, group: Group) -> None:
        """Replaces the first job of a queue by the next job of the same group."""
        queue = self._queues[group.accelerator]
        self._next[group] = self._next.get(group, 0) + 1
        if self._next[group] < len(group.entries):
            heapreplace(queue, self._candidate(group))
        else:
            heappop(queue)


def _rank(candidate: Candidate) -> Rank:
    return candidate[1], candidate[2], candidate[3], candidate[4]
