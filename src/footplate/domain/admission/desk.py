"""The admission desk: which waiting jobs may start now, and why the others may not."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from heapq import heapify, heappop, heappush
from itertools import chain
from typing import TYPE_CHECKING

from footplate.domain.admission.floor import Floor
from footplate.domain.admission.reasons import Behind, Soon, promise, why_waiting
from footplate.domain.admission.room import Room
from footplate.domain.admission.round import Round
from footplate.domain.admission.tickets import Clerk, Ticket
from footplate.domain.admission.walk import Order
from footplate.domain.admission.wording import explanation, whole_limit, with_limit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from footplate.domain.admission.claims import Claim
    from footplate.domain.admission.explanation import Explanation
    from footplate.domain.admission.reasons import Why
    from footplate.domain.amounts import Amounts
    from footplate.domain.names import JobUid
    from footplate.domain.quotas import Quotas

DEFAULT_PATIENCE_S = 3600.0


class Desk:
    """All claims on all sites; the same calls in the same order give the same answers.

    No clock, no I/O: ``now`` is given, in seconds since the epoch. Rules, in this order:

    1. A job starts whole or not at all; never over the capacity of its site, nor over the quota
       of its project in its region.
    2. Jobs that want the same accelerator on the same site stand in one line; in it the higher
       priority comes first.
    3. Then the project that holds less of the site (its dominant share); a job that has waited
       longer than ``patience_s`` no longer yields to that: it comes before all that haven't.
    4. Then first come.
    5. The first of a line that finds no room holds a reservation for the earliest moment at
       which there is room for certain; later ones start before it only if they don't delay it.
       One that only its project's quota holds up reserves nothing, and holds up nobody else's.

    Between the lines of a site it goes by 3 and 4, as to the first of each. Once a line has its
    reservation, those of it that the site has no room for aren't among its firsts any more.
    """

    def __init__(
        self,
        capacity: Mapping[str, Amounts],
        quotas: Quotas,
        patience_s: float = DEFAULT_PATIENCE_S,
    ) -> None:
        self._room = Room(capacity, quotas)
        self._clerk = Clerk(self._room)
        self._patience_s = patience_s
        self._tickets: dict[JobUid, Ticket] = {}
        self._waiting: dict[JobUid, None] = {}
        self._floors: dict[str, Floor] = {}
        self._touched: dict[str, list[Ticket]] = {}
        """Sites to look at, in the order in which they were touched, and who came to wait there
        since its last round, or has lost patience."""
        self._last: dict[str, Round] = {}
        """The last round of each site where nothing else has changed since."""
        self._patient: list[tuple[float, JobUid]] = []
        """A heap of those whose patience hasn't run out yet; some have left meanwhile."""
        self._rounds = 0

    def wait(self, claim: Claim) -> None:
        """The job waits. One that waits or holds already is put in its new place."""
        known = self._tickets.get(claim.uid)
        if known is not None and known.since is None and known.claim == claim:
            return
        self.leave(claim.uid)
        ticket = self._tickets[claim.uid] = self._clerk.ticket(claim)
        self._waiting[claim.uid] = None
        self._floor(claim.site).enqueue(ticket)
        self._look_at(claim.site, ticket)
        heappush(self._patient, (claim.arrived, claim.uid))

    def hold(self, claim: Claim, since: float) -> None:
        """The job holds what it claims, since then."""
        known = self._tickets.get(claim.uid)
        if known is not None and known.since == since and known.claim == claim:
            return
        self.leave(claim.uid)
        ticket = self._tickets[claim.uid] = self._clerk.ticket(claim)
        self._floor(claim.site).occupy(ticket, since)
        self._look_at(claim.site)

    def leave(self, uid: JobUid) -> None:
        """The job waits or holds no more; one that isn't known: nothing happens."""
        ticket = self._tickets.pop(uid, None)
        if ticket is None:
            return
        self._waiting.pop(uid, None)
        self._floor(ticket.claim.site).remove(ticket)
        self._look_at(ticket.claim.site)

    def set_quotas(self, quotas: Quotas) -> None:
        self._room.set_quotas(quotas)
        self._clerk.see_limits()
        for site in self._floors:
            self._look_at(site)

    def admit(self, now: float) -> tuple[JobUid, ...]:
        """Those that may start now, in the order of the decisions; they hold from now on.

        Sites where nothing has changed since the last call, nor any patience run out, aren't
        looked at again.
        """
        self._see_patience(now)
        touched, self._touched = self._touched, {}
        tickets = chain.from_iterable(
            self._admit(site, newcomers, now) for site, newcomers in touched.items()
        )
        started = tuple(ticket.claim.uid for ticket in tickets)
        for uid in started:
            del self._waiting[uid]
        return started

    def explain(
        self, uid: JobUid, now: float, variations: Iterable[tuple[str, Claim]] = ()
    ) -> Explanation | None:
        """Why the job waits; None: it doesn't.

        ``variations``: claims that the job could make instead, each with how to say it ("with 2
        NVIDIA_TESLA_T4 instead of 4"); the first that would start at once is named.
        """
        ticket = self._tickets.get(uid)
        if ticket is None or ticket.since is not None:
            return None
        claim = ticket.claim
        floor = self._floor(claim.site)
        with self._rehearsal(claim.site, now, thorough=True) as (started, last):
            reservations = last.reservations
            why = Soon() if ticket in started else why_waiting(ticket, floor, reservations, now)
            latest = promise(ticket, floor, reservations)
        line = floor.lines[claim.accelerator]
        words = self._way_out(why, claim, now, variations)
        return explanation(claim, why, line.place(ticket), len(line), latest, now, words)

    def would_start(self, claim: Claim, now: float) -> bool:
        """Whether a job with this claim, in place of what is known of it, would start at once."""
        known = self._tickets.get(claim.uid)
        since = known.since if known is not None else None
        if known is not None:
            self._floor(known.claim.site).remove(known)
        ticket = self._clerk.ticket(claim)
        floor = self._floor(claim.site)
        floor.enqueue(ticket)
        with self._rehearsal(claim.site, now) as (started, _):
            starts = ticket in started
        floor.dequeue(ticket)
        if known is not None:
            self._floor(known.claim.site).put(known, since)
        return starts

    def place(self, uid: JobUid) -> int:
        """Its place in its line, from 1; 0: it doesn't wait."""
        ticket = self._tickets.get(uid)
        if ticket is None or ticket.since is not None:
            return 0
        claim = ticket.claim
        return self._floor(claim.site).lines[claim.accelerator].place(ticket)

    def waiting(self) -> frozenset[JobUid]:
        return frozenset(self._waiting)

    def held(self, project: str, region: str) -> Amounts:
        """What counts against the quota of the project there."""
        return self._room.held_by(project, region)

    def _floor(self, site: str) -> Floor:
        floor = self._floors.get(site)
        if floor is None:
            floor = self._floors[site] = Floor(self._room)
        return floor

    def _look_at(self, site: str, newcomer: Ticket | None = None) -> None:
        """Something has changed there; only that ``newcomer`` waits now, or no longer patiently."""
        newcomers = self._touched.setdefault(site, [])
        if newcomer is None:
            self._last.pop(site, None)
        elif site in self._last:
            newcomers.append(newcomer)

    def _admit(self, site: str, newcomers: Sequence[Ticket], now: float) -> list[Ticket]:
        last, order = self._last.get(site), self._order(site, now)
        if last is not None and all(last.is_unmoved_by(each, order) for each in newcomers):
            return []
        started, self._last[site] = self._settle(site, now)
        return started

    def _order(self, site: str, now: float) -> Order:
        self._rounds += 1
        return Order(self._floor(site).shares, now, self._patience_s, self._rounds)

    def _settle(
        self, site: str, now: float, *, thorough: bool = False
    ) -> tuple[list[Ticket], Round]:
        """Rounds until nobody starts any more, as each start changes the shares; the last one."""
        started: list[Ticket] = []
        while True:
            order = self._order(site, now)
            last = Round(self._floor(site), order, thorough=thorough)
            last.run()
            started += last.started
            if last.settled:
                return started, last

    @contextmanager
    def _rehearsal(
        self, site: str, now: float, *, thorough: bool = False
    ) -> Iterator[tuple[list[Ticket], Round]]:
        """What `_settle` would give; nothing of it remains after the block."""
        started, last = self._settle(site, now, thorough=thorough)
        try:
            yield started, last
        finally:
            floor = self._floor(site)
            for ticket in reversed(started):
                floor.vacate(ticket)
                floor.enqueue(ticket)

    def _way_out(
        self, why: Why, claim: Claim, now: float, variations: Iterable[tuple[str, Claim]]
    ) -> str | None:
        """What could be asked for instead to start at once; None: nothing that is known of."""
        if isinstance(why, Soon):
            return None
        tried = (words for words, other in variations if self.would_start(other, now))
        found = next(tried, None)
        if found is None and isinstance(why, Behind):
            found = self._shorter(claim, why.at, now)
        return found

    def _shorter(self, claim: Claim, at: float, now: float) -> str | None:
        """The limit with which a job would be gone before it delays another."""
        limit_s = whole_limit(at - now)
        if limit_s and self.would_start(replace(claim, longest_s=limit_s), now):
            return with_limit(limit_s)
        return None

    def _see_patience(self, now: float) -> None:
        """Sites where somebody's patience has run out are to be looked at."""
        while self._patient and self._patient[0][0] < now - self._patience_s:
            _, uid = heappop(self._patient)
            ticket = self._tickets.get(uid)
            if ticket is not None and ticket.since is None:
                self._look_at(ticket.claim.site, ticket)
        if len(self._patient) > 2 * len(self._waiting) + 1000:
            waiting = (self._tickets[uid].claim for uid in self._waiting)
            self._patient = [(claim.arrived, claim.uid) for claim in waiting]
            heapify(self._patient)
