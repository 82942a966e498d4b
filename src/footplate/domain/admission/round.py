"""One look at all that wait for a site: who starts now, and who is promised room later."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from footplate.domain.admission.reservations import Reservations
from footplate.domain.admission.walk import Walk

if TYPE_CHECKING:
    from footplate.domain.admission.floor import Floor
    from footplate.domain.admission.lines import Group
    from footplate.domain.admission.tickets import Form, Ticket


class Round:
    """Within a round free room only shrinks, so whatever finds none is passed over from then on.

    ``number`` is another one in each round. ``thorough``: each line's reservation is found out,
    also where nobody could start any more whom it might hold up.
    """

    def __init__(
        self, floor: Floor, now: float, patience_s: float, number: int, *, thorough: bool = False
    ) -> None:
        self._floor = floor
        self._now = now
        self._patience_s = patience_s
        self._number = number
        self._thorough = thorough
        self._live: list[Form] = []
        self.reservations = Reservations(floor, now)
        self.started: list[Ticket] = []

    def run(self) -> None:
        room = self._floor.room
        for form in self._floor.forms:
            form.live = room.fits(form.needs)
        self._live = [form for form in self._floor.forms if form.live]
        if self._live or self._thorough:
            self._walk()

    def _walk(self) -> None:
        """Between lines: the first of each line, by its rank among the first of all."""
        floor, number = self._floor, self._number
        before = self._now - self._patience_s
        lines = (line for line in floor.lines.values() if line.levels)
        walks = [Walk(line, floor.shares, before, number) for line in lines]
        turns = [(found[0], index) for index, w in enumerate(walks) if (found := w.peek())]
        heapify(turns)
        while turns and (self._live or self._thorough):
            rank, index = heappop(turns)
            walk = walks[index]
            found = walk.peek()
            if found is not None and found[0] == rank:
                self._consider(found[1], walk)
                found = walk.peek()
            if found is not None:
                heappush(turns, (found[0], index))

    def _consider(self, group: Group, walk: Walk) -> None:
        """Start its head, or promise it room, or pass over the group for this round."""
        now, account, form = self._now, group.account, group.form
        ticket = group.tickets[0][2]
        if not self._floor.room.fits(account.limited):
            account.spent_in = self._number
        elif not form.live:
            self.reservations.make(ticket)
            walk.only_live = True
            self._weed()
        elif self.reservations.delayed_by(account.limited, now, now + form.longest_s):
            group.passed_in = self._number
        else:
            self._floor.start(ticket, now)
            self.reservations.take(ticket.needs, now, now + form.longest_s)
            self.started.append(ticket)
            self._weed()

    def _weed(self) -> None:
        """See which forms can't start any more."""
        kept = []
        for form in self._live:
            form.live = bool(form.waiting) and self._may_start(form)
            if form.live:
                kept.append(form)
        self._live = kept

    def _may_start(self, form: Form) -> bool:
        if not self._floor.room.fits(form.needs):
            return False
        end = self._now + form.longest_s
        return self.reservations.delayed_by(form.needs, self._now, end) is None
