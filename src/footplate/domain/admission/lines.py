"""Waiting claims in order: lines, in them priorities, in them groups of claims that are alike.

In a group the first come is the first to start, whatever happens; so only the heads of groups are
ever compared, and what comes behind a head costs nothing.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.domain.admission.tickets import Account, Form, Ticket
    from footplate.domain.names import JobUid

Head = tuple[float, "JobUid", "Group"]
"""When the first of a group arrived, and which it is; no two are equal in these."""


class Group:
    """Waiting claims of one project that differ in nothing but their arrival."""

    __slots__ = ("account", "form", "passed_in", "project", "tickets")

    def __init__(self, project: str, form: Form, account: Account) -> None:
        self.project = project
        self.form = form
        self.account = account
        self.tickets: list[tuple[float, JobUid, Ticket]] = []
        self.passed_in = 0
        """The last round that has passed over it."""

    @property
    def head(self) -> Head | None:
        if not self.tickets:
            return None
        arrived, uid, _ = self.tickets[0]
        return arrived, uid, self


class Level:
    """One priority in a line: the heads of its groups by age, of all projects and of each."""

    __slots__ = ("_groups", "heads", "of_project")

    def __init__(self) -> None:
        self._groups: dict[tuple[str, Form, Account], Group] = {}
        self.heads: list[Head] = []
        self.of_project: dict[str, list[Head]] = {}

    def add(self, ticket: Ticket) -> None:
        claim = ticket.claim
        key = (claim.project, ticket.form, ticket.account)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(*key)
        before = group.head
        insort(group.tickets, (claim.arrived, claim.uid, ticket))
        self._rehead(group, before)

    def remove(self, ticket: Ticket) -> None:
        claim = ticket.claim
        key = (claim.project, ticket.form, ticket.account)
        group = self._groups[key]
        before = group.head
        del group.tickets[bisect_left(group.tickets, (claim.arrived, claim.uid))]
        self._rehead(group, before)
        if not group.tickets:
            del self._groups[key]

    def _rehead(self, group: Group, before: Head | None) -> None:
        after = group.head
        if before == after:
            return
        of_project = self.of_project.setdefault(group.project, [])
        for heads in (self.heads, of_project):
            if before is not None:
                del heads[bisect_left(heads, before[:2])]
            if after is not None:
                insort(heads, after)
        if not of_project:
            del self.of_project[group.project]


class Line:
    """All that wait for the same accelerator on one site."""

    __slots__ = ("_order", "levels")

    def __init__(self) -> None:
        self.levels: dict[int, Level] = {}
        """By priority, highest first."""
        self._order: list[tuple[int, float, JobUid]] = []

    def __len__(self) -> int:
        return len(self._order)

    def add(self, ticket: Ticket) -> None:
        insort(self._order, _rank(ticket))
        if not ticket.form.possible:
            return
        level = self.levels.get(ticket.claim.priority)
        if level is None:
            level = self.levels[ticket.claim.priority] = Level()
            self.levels = dict(sorted(self.levels.items(), reverse=True))
        level.add(ticket)

    def remove(self, ticket: Ticket) -> None:
        del self._order[bisect_left(self._order, _rank(ticket))]
        if not ticket.form.possible:
            return
        level = self.levels[ticket.claim.priority]
        level.remove(ticket)
        if not level.heads:
            del self.levels[ticket.claim.priority]

    def place(self, ticket: Ticket) -> int:
        """From 1, by priority and arrival."""
        return bisect_left(self._order, _rank(ticket)) + 1


def _rank(ticket: Ticket) -> tuple[int, float, JobUid]:
    claim = ticket.claim
    return -claim.priority, claim.arrived, claim.uid
