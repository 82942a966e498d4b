"""Those that wait for the same accelerator on one site."""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

from footplate.domain.admission.ladder import Group, Ladder

if TYPE_CHECKING:
    from footplate.domain.admission.ladder import Head
    from footplate.domain.admission.tickets import Account, Form, Shape, Ticket
    from footplate.domain.names import JobUid


class Line:
    __slots__ = ("_groups", "_order", "ladder", "ladders")

    def __init__(self) -> None:
        self.ladder = Ladder()
        """Those that the site is large enough for."""
        self.ladders: dict[Shape, Ladder] = {}
        """The same, shape by shape; none is empty."""
        self._groups: dict[tuple[int, str, Form, Account], Group] = {}
        self._order: list[tuple[int, float, JobUid]] = []

    def __len__(self) -> int:
        return len(self._order)

    def add(self, ticket: Ticket) -> None:
        insort(self._order, _rank(ticket))
        if ticket.form.shape.possible:
            key = _key(ticket)
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = Group(*key[1:])
            before = group.head
            group.add(ticket)
            self._rehead(group, before, ticket)

    def remove(self, ticket: Ticket) -> None:
        del self._order[bisect_left(self._order, _rank(ticket))]
        if ticket.form.shape.possible:
            key = _key(ticket)
            group = self._groups[key]
            before = group.head
            group.remove(ticket)
            if not group:
                del self._groups[key]
            self._rehead(group, before, ticket)

    def place(self, ticket: Ticket) -> int:
        """From 1, by priority and arrival."""
        return bisect_left(self._order, _rank(ticket)) + 1

    def _rehead(self, group: Group, before: Head | None, ticket: Ticket) -> None:
        after, shape = group.head, group.form.shape
        if before == after:
            return
        for ladder in (self.ladder, self.ladders.setdefault(shape, Ladder())):
            ladder.replace(ticket.claim.priority, group.project, before, after)
        if not self.ladders[shape].steps:
            del self.ladders[shape]


def _key(ticket: Ticket) -> tuple[int, str, Form, Account]:
    return ticket.claim.priority, ticket.claim.project, ticket.form, ticket.account


def _rank(ticket: Ticket) -> tuple[int, float, JobUid]:
    claim = ticket.claim
    return -claim.priority, claim.arrived, claim.uid
