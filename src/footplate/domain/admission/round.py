"""One look at all that wait for a site: who starts now, and who is promised room later."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from footplate.domain.admission.reservations import Reservations
from footplate.domain.admission.walk import LineWalk

if TYPE_CHECKING:
    from footplate.domain.admission.floor import Floor
    from footplate.domain.admission.ladder import Group
    from footplate.domain.admission.tickets import Form, Ticket
    from footplate.domain.admission.walk import Order


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
        self._live: list[Form] = []
        """Forms that could still start, as far as the site goes."""
        self.reservations = Reservations(floor, now)
        self.started: list[Ticket] = []

    def run(self) -> None:
        for shape in self._floor.shapes:
            fits = self._floor.room.fits(shape.needs)
            for form in shape.forms:
                form.live = fits
            if fits:
                self._live.extend(shape.forms)
        if self._live or self._thorough:
            self._walk()

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
                self._consider(found[2], walk)
                found = walk.peek()
            if found is not None:
                heappush(turns, (found[1], index))

    def _consider(self, group: Group, walk: LineWalk) -> None:
        """Start its first, or promise it room, or pass over the group for this round."""
        now, account, form = self._now, group.account, group.form
        if not self._floor.room.fits(account.limited):
            account.spent_in = self._order.number
        elif not form.live:
            self.reservations.make(group.first)
            self._weed()
            accelerator = group.first.claim.accelerator
            walk.reserve(f for f in self._live if f.accelerator == accelerator)
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
        """See which forms can't start any more."""
        kept = []
        for form in self._live:
            form.live = bool(form.ladder.steps) and self._may_start(form)
            if form.live:
                kept.append(form)
        self._live = kept

    def _may_start(self, form: Form) -> bool:
        needs = form.shape.needs
        if not self._floor.room.fits(needs):
            return False
        return not self.reservations.delayed_by(needs, self._now, self._now + form.longest_s)
