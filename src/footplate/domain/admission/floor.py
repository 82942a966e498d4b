"""One site: who holds it, until when at the latest, and the lines of those who wait for it."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from footplate.domain.admission.lines import Line
from footplate.domain.admission.releases import Releases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.admission.room import Needs, Room
    from footplate.domain.admission.tickets import Shape, Ticket
    from footplate.domain.names import JobUid


class Floor:
    def __init__(self, room: Room) -> None:
        self.room = room
        self.lines: dict[str, Line] = {}
        """By accelerator, in order; none is empty."""
        self.shapes: dict[Shape, None] = {}
        """Those that wait and that the site is large enough for."""
        self._ends: list[tuple[float, JobUid, Ticket]] = []
        self._releases: dict[int, Releases] = {}
        self.shares: dict[str, float] = {}
        """By project: the largest part that it holds of any of the site's resources."""
        self._held: dict[str, dict[int, int]] = {}

    def enqueue(self, ticket: Ticket) -> None:
        name, form = ticket.claim.accelerator, ticket.form
        line = self.lines.get(name)
        if line is None:
            line = self.lines[name] = Line()
            self.lines = dict(sorted(self.lines.items()))
        line.add(ticket)
        if form.shape.possible:
            form.shape.add(form)
            self.shapes[form.shape] = None

    def dequeue(self, ticket: Ticket) -> None:
        name, form = ticket.claim.accelerator, ticket.form
        line = self.lines[name]
        line.remove(ticket)
        if not line:
            del self.lines[name]
        if form.shape.possible:
            form.shape.remove(form)
            if not form.shape.forms:
                del self.shapes[form.shape]

    def occupy(self, ticket: Ticket, since: float) -> None:
        ticket.since, ticket.end = since, since + ticket.form.longest_s
        insort(self._ends, (ticket.end, ticket.claim.uid, ticket))
        for place, amount in ticket.amounts.items():
            self._releases.setdefault(place, Releases()).add(ticket.end, amount)
        self.room.take(ticket.form.shape.needs)
        self.room.take(ticket.account.needs)
        self._count(ticket, 1)

    def vacate(self, ticket: Ticket) -> None:
        ticket.since = None
        del self._ends[bisect_left(self._ends, (ticket.end, ticket.claim.uid))]
        for place, amount in ticket.amounts.items():
            self._releases[place].remove(ticket.end, amount)
        self.room.give_back(ticket.form.shape.needs)
        self.room.give_back(ticket.account.needs)
        self._count(ticket, -1)

    def put(self, ticket: Ticket, since: float | None) -> None:
        """It holds since then; None: it waits."""
        if since is None:
            self.enqueue(ticket)
        else:
            self.occupy(ticket, since)

    def remove(self, ticket: Ticket) -> None:
        if ticket.since is None:
            self.dequeue(ticket)
        else:
            self.vacate(ticket)

    def holders(self) -> Iterator[Ticket]:
        """Who holds, by the latest end."""
        return (ticket for _, _, ticket in self._ends)

    def is_overdue(self, now: float) -> bool:
        """Whether somebody holds longer than it may."""
        return bool(self._ends) and self._ends[0][0] <= now

    def first_room(self, place: int, amount: int) -> float:
        """From when on so much is free, if each that holds ends as late as it may."""
        short = amount - self.room.free[place]
        if short <= 0:
            return -math.inf
        releases = self._releases.get(place)
        return releases.first(short) if releases is not None else math.inf

    def next_release(self, needs: Needs, moment: float) -> float:
        """The next moment at which some of what is needed comes free."""
        releases = (self._releases.get(place) for place, _ in needs)
        return min((r.after(moment) for r in releases if r is not None), default=math.inf)

    def free_at(self, place: int, moment: float) -> float:
        """What will be free then, if each that holds ends as late as it may."""
        releases = self._releases.get(place)
        released = releases.until(moment) if releases is not None else 0
        return self.room.free[place] + released

    def _count(self, ticket: Ticket, sign: int) -> None:
        project, total = ticket.claim.project, self.room.total
        held = self._held.setdefault(project, {})
        for place, amount in ticket.form.shape.needs:
            held[place] = held.get(place, 0) + sign * amount
        # A total of 0 can be held where a capacity was lowered.
        share = max((n / max(total[place], 1) for place, n in held.items()), default=0.0)
        if share:
            self.shares[project] = share
        else:
            del self._held[project]
            self.shares.pop(project, None)
