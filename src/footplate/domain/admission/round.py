"""One look at all that wait for a site: who starts now, and who is promised room later."""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from footplate.domain.admission.reservations import Reservations
from footplate.domain.admission.walk import LineWalk

if TYPE_CHECKING:
    from footplate.domain.admission.floor import Floor
    from footplate.domain.admission.ladder import Group
    from footplate.domain.admission.tickets import Shape, Ticket
    from footplate.domain.admission.walk import Order, Rank


class Round:
    """Within a round free room only shrinks, so whatever finds none is passed over from then on.

    ``thorough``: each line's reservation is found out, also where nobody could start any more
    whom it might hold up.
    """

    def __init__(self, floor: Floor, now: float, order: Order, *, thorough: bool = False) -> None:
        self._floor = floor
        self._now = now
        self._order = order
        self._thorough = thorough
        self._live: list[Shape] = []
        """Those of which some form could still start, as far as the site goes."""
        self.reservations = Reservations(floor, now)
        self.started: list[Ticket] = []

    def run(self) -> None:
        for shape in self._floor.shapes:
            if self._floor.room.fits(shape.needs):
                shape.revive()
                self._live.append(shape)
            else:
                shape.limit(self._now, -math.inf)
        if self._live or self._thorough:
            self._walk()

    @property
    def settled(self) -> bool:
        """Whether another round now would start nobody.

        It would make the same promises, and so start nobody, if those that hold them still have
        the same rank: others have none that is better than before.
        """
        if not self.started:
            return True
        return all(self._order.rank(r.ticket.claim) == r.rank for r in self.reservations.made)

    def is_unmoved_by(self, ticket: Ticket, order: Order, now: float) -> bool:
        """Whether for certain nobody would start now because a job came, or lost its patience.

        Nothing else may have changed since the round. The job changes nothing if it can't start,
        and isn't promised anything either, as it comes behind the one of its line that is.
        """
        form, floor = ticket.form, self._floor
        if not form.shape.possible or not floor.room.fits(ticket.account.limited):
            return True
        first = self.reservations.of_line(ticket.claim.accelerator)
        if first is None or floor.is_overdue(now):
            return False
        theirs = (-first.ticket.claim.priority, order.rank(first.ticket.claim))
        if (-ticket.claim.priority, order.rank(ticket.claim)) <= theirs:
            return False
        needs, end = form.shape.needs, now + form.longest_s
        return not floor.room.fits(needs) or bool(self.reservations.delayed_by(needs, now, end))

    def _walk(self) -> None:
        """Between lines: the first of each line, by its rank among the first of all."""
        lines = self._floor.lines.values()
        walks = [LineWalk(line.ladder, self._order) for line in lines]
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

    def _consider(self, group: Group, rank: Rank, walk: LineWalk) -> None:
        """Start its first, or promise it room, or pass over the group for this round."""
        now, account, form = self._now, group.account, group.form
        if not self._floor.room.fits(account.limited):
            account.spent_in = self._order.number
        elif not form.live:
            self.reservations.make(group.first, rank)
            self._weed()
            walk.reserve(group.first.claim.accelerator, self._live)
        elif self.reservations.delayed_by(account.limited, now, now + form.longest_s):
            group.passed_in = self._order.number
        else:
            self._start(group.first)

    def _start(self, ticket: Ticket) -> None:
        now = self._now
        self._floor.dequeue(ticket)
        self._floor.occupy(ticket, now)
        self.reservations.take(ticket.needs, now, now + ticket.form.longest_s)
        self.started.append(ticket)
        self._weed()

    def _weed(self) -> None:
        """See which shapes and forms can't start any more."""
        kept = []
        for shape in self._live:
            deadline = -math.inf
            if self._floor.room.fits(shape.needs):
                deadline = self.reservations.deadline(shape.needs)
            if shape.limit(self._now, deadline):
                kept.append(shape)
        self._live = kept
