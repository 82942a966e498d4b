"""One look at all that wait for a site: who starts now, and who is promised room later."""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from footplate.domain.admission.reservations import Reservations
from footplate.domain.admission.walk import LineWalk

if TYPE_CHECKING:
    from footplate.domain.admission.claims import Claim
    from footplate.domain.admission.floor import Floor
    from footplate.domain.admission.ladder import Group
    from footplate.domain.admission.reservations import Reservation
    from footplate.domain.admission.tickets import Shape, Ticket
    from footplate.domain.admission.walk import Order, Rank


class Round:
    """Within a round free room only shrinks, so whatever finds none is passed over from then on.

    ``thorough``: each line's reservation is found out, also where nobody could start any more
    whom it might hold up.
    """

    def __init__(self, floor: Floor, order: Order, *, thorough: bool = False) -> None:
        self._floor = floor
        self._now = order.now
        self._order = order
        self._thorough = thorough
        self._live: list[Shape] = []
        """Those of which some form could still start, as far as the site goes."""
        self._firsts: dict[str, Claim] = {}
        """By line: the one that is promised room, or that it would have been the turn of next."""
        self._full: bool | None = None
        self.reservations = Reservations(floor, order.now)
        self.started: list[Ticket] = []

    def run(self) -> None:
        fits = self._floor.room.fits
        for shape in self._floor.shapes:
            if fits(shape.needs):
                shape.deadline = math.inf
                self._live.append(shape)
            else:
                shape.deadline = -math.inf
        if self._live or self._thorough:
            self._walk()

    @property
    def settled(self) -> bool:
        """Whether another round now would make the same promises, and so start nobody.

        It would if those that hold them come one after another, and before the next of each
        other line, also by the shares and quotas as they are now.
        """
        made = self.reservations.made
        if not self.started or not made:
            return True
        ranks = [self._order.rank(reservation.ticket.claim) for reservation in made]
        promised = {reservation.ticket.claim.accelerator for reservation in made}
        others = (claim for line, claim in self._firsts.items() if line not in promised)
        return (
            ranks == sorted(reservation.rank for reservation in made)
            and all(ranks[-1] <= self._order.rank(claim) for claim in others)
            and all(self._floor.room.fits(r.ticket.account.limited) for r in made)
        )

    def is_unmoved_by(self, ticket: Ticket, order: Order) -> bool:
        """Whether for certain nobody would start now because a job came, or lost its patience.

        Nothing else may have changed since the round. The job changes nothing if it can't start,
        and isn't promised anything that others must yield to.
        """
        form, floor = ticket.form, self._floor
        if not form.shape.possible or not floor.room.fits(ticket.account.limited):
            return True
        needs, now = form.shape.needs, order.now
        if not floor.room.fits(needs):
            return self._is_full() or self._is_behind(ticket.claim, order)
        delays = self.reservations.delayed_by(needs, now, now + form.longest_s) is not None
        return delays and self._is_behind(ticket.claim, order)

    def _is_full(self) -> bool:
        """Whether nothing that waits fits into what is free now."""
        if self._full is None:
            self._full = not any(self._floor.room.fits(s.needs) for s in self._floor.shapes)
        return self._full

    def _is_behind(self, claim: Claim, order: Order) -> bool:
        """Whether it comes after the one of its line up to which the round has gone."""
        first = self._firsts.get(claim.accelerator)
        if first is None or self._floor.is_overdue(order.now):
            return False
        return (-claim.priority, order.rank(claim)) > (-first.priority, order.rank(first))

    def _walk(self) -> None:
        """Between lines: the first of each line, by its rank among the first of all."""
        lines = self._floor.lines.values()
        walks = [LineWalk(line, self._order) for line in lines]
        turns = [(found[1], index) for index, w in enumerate(walks) if (found := w.peek())]
        heapify(turns)
        while turns and (self._live or self._thorough):
            rank, index = heappop(turns)
            walk = walks[index]
            found = walk.peek()
            if found is not None and found[1] == rank:
                self._consider(found[2], rank, walk)
                found = walk.peek()
            if found is not None:
                heappush(turns, (found[1], index))
        self._note_firsts(walks)

    def _note_firsts(self, walks: list[LineWalk]) -> None:
        waiting = (found[2].first for w in walks if not w.reserved and (found := w.peek()))
        promised = (reservation.ticket for reservation in self.reservations.made)
        for ticket in (*waiting, *promised):
            self._firsts[ticket.claim.accelerator] = ticket.claim

    def _consider(self, group: Group, rank: Rank, walk: LineWalk) -> None:
        """Start its first, or promise it room, or pass over the group for this round."""
        now, account, form = self._now, group.account, group.form
        if not self._floor.room.fits(account.limited):
            account.spent_in = self._order.number
        elif not form.is_live(now):
            self._weed(self.reservations.make(group.first, rank))
            walk.reserve(self._live)
        elif self.reservations.delayed_by(account.limited, now, now + form.longest_s):
            group.passed_in = self._order.number
        else:
            self._start(group.first)

    def _start(self, ticket: Ticket) -> None:
        now = self._now
        self._floor.dequeue(ticket)
        self._floor.occupy(ticket, now)
        self.started.append(ticket)
        fits = self._floor.room.fits
        for shape in self._live:
            if not fits(shape.needs):
                shape.deadline = -math.inf
        self._weed(self.reservations.take(ticket.needs, now, now + ticket.form.longest_s))

    def _weed(self, changed: list[Reservation]) -> None:
        """See which shapes can't start any more, now that these leave less to others."""
        now, kept = self._now, []
        for shape in self._live:
            for reservation in changed:
                if reservation.at < shape.deadline and reservation.is_exceeded_by(shape.needs):
                    shape.deadline = reservation.at
            if shape.is_live(now):
                kept.append(shape)
        self._live = kept
