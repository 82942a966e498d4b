"""The scheduler: which waiting jobs start now, and why the others don't."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from footplate.domain.admission.claims import Claim
from footplate.domain.admission.free_capacity import quota_needs, site_needs
from footplate.domain.admission.messages import Explanation, explanation, whole_limit, with_limit
from footplate.domain.admission.reasons import Behind, Soon, Why, promise, why_waiting
from footplate.domain.admission.scheduling_cycle import SchedulingCycle
from footplate.domain.admission.site_state import SiteState
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quotas
from footplate.domain.resources import Amounts, total

DEFAULT_TIMEOUT_S = 3600.0


class Scheduler:
    """All claims on all sites. Each decision is computed from them; no result is kept.

    No clock, no I/O: ``now`` is given, in seconds since the epoch. Rules, in this order:

    1. A job starts whole or not at all; never over the capacity of its site, nor over the quota
       of its project in its region.
    2. Jobs that ask for the same accelerator on the same site form one queue; in it the higher
       priority comes first.
    3. Then the project that holds less of the site (its dominant share); a job that has waited
       longer than ``patience_s`` comes before all that haven't, whatever the shares.
    4. Then first come.
    5. The first of a queue that finds no room gets a reservation for the earliest moment at
       which there is room for certain; later ones start before it only if they don't delay it.
       One that only its project's quota holds up reserves nothing, and holds up no other project.

    Between the queues of a site, rules 3 and 4 compare the first of each. Once a queue has its
    reservation, its jobs that the site has no room for no longer count as its first.
    """

    def __init__(
        self,
        capacity: Mapping[str, Amounts],
        quotas: Quotas,
        patience_s: float = DEFAULT_TIMEOUT_S,
    ) -> None:
        self._sites = {site: SiteState(amounts) for site, amounts in capacity.items()}
        self._quotas = quotas
        self._patience_s = patience_s
        self._waiting: dict[JobUid, Claim] = {}
        self._running: dict[JobUid, Claim] = {}

    def wait(self, claim: Claim) -> None:
        """Adds a waiting job. A job that already waits or runs gets a new place in its queue."""
        if self._waiting.get(claim.uid) != claim:
            self.leave(claim.uid)
            self._waiting[claim.uid] = claim
            self._site(claim).wait(claim)

    def hold(self, claim: Claim, since: float) -> None:
        """Records that the job has held what it claims since ``since``."""
        self.leave(claim.uid)
        self._running[claim.uid] = claim
        self._site(claim).run(claim, since)

    def leave(self, uid: JobUid) -> None:
        """Removes a job, whether it waits or runs; an unknown job is ignored."""
        claim = self._waiting.pop(uid, None) or self._running.pop(uid, None)
        if claim is not None:
            self._site(claim).remove(claim)

    def set_quotas(self, quotas: Quotas) -> None:
        self._quotas = quotas

    def set_capacity(self, site: str, capacity: Amounts) -> None:
        """Sets the capacity of a site, which may be new; jobs may wait for it already."""
        self._sites.setdefault(site, SiteState({})).set_capacity(capacity)

    def admit(self, now: float) -> tuple[JobUid, ...]:
        """Starts the waiting jobs that may start now; returns them in the order of decisions."""
        started: list[Claim] = []
        for site in self._sites.values():
            if site.groups:
                started += self._cycle(site, now).started
        for claim in started:
            self.hold(claim, now)
        return tuple(claim.uid for claim in started)

    def explain(
        self, uid: JobUid, now: float, variations: Iterable[tuple[str, Claim]] = ()
    ) -> Explanation | None:
        """Explains why the job waits; None: it doesn't wait.

        ``variations`` are claims that the job could make instead, each with its description ("with
        2 NVIDIA_TESLA_T4 instead of 4"). The explanation names the first that would start at once.
        """
        claim = self._waiting.get(uid)
        if claim is None:
            return None
        site = self._site(claim)
        cycle = self._cycle(site, now)
        reservations = cycle.reservations()
        why = Soon() if claim in cycle.started else why_waiting(claim, cycle, reservations)
        latest = promise(claim, cycle, reservations)
        place, length = site.place(claim)
        words = self._way_out(why, claim, now, variations)
        return explanation(claim, why, place, length, latest, now, words)

    def would_start(self, claim: Claim, now: float) -> bool:
        """Returns whether the job would start at once if it made this claim instead."""
        with self._without(claim.uid):
            site = self._site(claim)
            site.wait(claim)
            try:
                cycle = SchedulingCycle(site, self._quotas, now, self._patience_s)
                if not cycle.free.fits(site_needs(claim) + quota_needs(claim)):
                    return False
                cycle.run()
                return claim in cycle.started
            finally:
                site.remove(claim)

    def place(self, uid: JobUid) -> int:
        """Returns the job's place in its queue, from 1; 0: it doesn't wait."""
        claim = self._waiting.get(uid)
        return 0 if claim is None else self._site(claim).place(claim)[0]

    def waiting(self) -> frozenset[JobUid]:
        return frozenset(self._waiting)

    def is_waiting(self, uid: JobUid) -> bool:
        return uid in self._waiting

    def known(self) -> frozenset[JobUid]:
        """Returns the jobs that wait or run."""
        return frozenset(self._waiting.keys() | self._running.keys())

    def held(self, project: str, region: str) -> Amounts:
        """Returns the amounts that count against the quota of the project in the region."""
        of = project, region
        return total(c.counts for c in self._running.values() if (c.project, c.region) == of)

    def held_of(self, site: str) -> Amounts:
        """Returns the amounts of the site that running jobs hold."""
        return total(c.holds for c in self._running.values() if c.site == site)

    def _site(self, claim: Claim) -> SiteState:
        return self._sites.setdefault(claim.site, SiteState({}))

    def _cycle(self, site: SiteState, now: float) -> SchedulingCycle:
        cycle = SchedulingCycle(site, self._quotas, now, self._patience_s)
        cycle.run()
        return cycle

    @contextmanager
    def _without(self, uid: JobUid) -> Iterator[None]:
        """Context manager that removes the job for the block, and restores it afterwards."""
        claim = self._waiting.get(uid) or self._running.get(uid)
        if claim is None:
            yield
            return
        site = self._site(claim)
        running = site.running.get(uid)
        site.remove(claim)
        try:
            yield
        finally:
            if running is None:
                site.wait(claim)
            else:
                site.running[uid] = running

    def _way_out(
        self, why: Why, claim: Claim, now: float, variations: Iterable[tuple[str, Claim]]
    ) -> str | None:
        """Returns what the job could ask for instead to start at once; None: no change is known."""
        if isinstance(why, Soon):
            return None
        tried = (words for words, other in variations if self.would_start(other, now))
        found = next(tried, None)
        if found is None and isinstance(why, Behind):
            found = self._shorter(claim, why.at, now)
        return found

    def _shorter(self, claim: Claim, at: float, now: float) -> str | None:
        """Describes a time limit with which the job could start at once; None: there is none.

        With this limit it would not delay another job.
        """
        limit_s = whole_limit(at - now)
        if limit_s and self.would_start(replace(claim, longest_s=limit_s), now):
            return with_limit(limit_s)
        return None
