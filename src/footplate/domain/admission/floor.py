"""One site: who holds it, until when at the latest, and the lines of those who wait for it."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from footplate.domain.admission.lines import Line

if TYPE_CHECKING:
    from footplate.domain.admission.room import Room
    from footplate.domain.admission.tickets import Shape, Ticket
    from footplate.domain.names import JobUid


class Floor:
    def __init__(self, room: Room) -> None:
        self.room = room
        self.lines: dict[str, Line] = {}
        """By accelerator, in order; none is empty."""
        self.shapes: dict[Shape, None] = {}
        """Those that wait and that the site is large enough for."""
        self.ends: list[tuple[float, JobUid, Ticket]] = []
        """Who holds, by the latest end."""
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
            form.shape.forms[form] = None
            self.shapes[form.shape] = None

    def dequeue(self, ticket: Ticket) -> None:
        name, form = ticket.claim.accelerator, ticket.form
        line = self.lines[name]
        line.remove(ticket)
        if not line:
            del self.lines[name]
        if not form.ladder.steps:
            form.shape.forms.pop(form, None)
            if not form.shape.forms:
                self.shapes.pop(form.shape, None)

    def occupy(self, ticket: Ticket, since: float) -> None:
        ticket.since, ticket.end = since, since + ticket.form.longest_s
        insort(self.ends, (ticket.end, ticket.claim.uid, ticket))
        self.room.take(ticket.form.shape.needs)
        self.room.take(ticket.account.needs)
        self._count(ticket, 1)

    def vacate(self, ticket: Ticket) -> None:
        del self.ends[bisect_left(self.ends, (ticket.end, ticket.claim.uid))]
        ticket.since = None
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
