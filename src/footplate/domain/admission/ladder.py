"""Groups of waiting claims that are alike, by priority; of each group only the first counts.

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
    """Waiting claims of one project and one priority that differ in nothing but their arrival."""

    __slots__ = ("_tickets", "account", "form", "passed_in", "project")

    def __init__(self, project: str, form: Form, account: Account) -> None:
        self.project = project
        self.form = form
        self.account = account
        self.passed_in = 0
        """The last round that has passed over it."""
        self._tickets: list[tuple[float, JobUid, Ticket]] = []

    def __len__(self) -> int:
        return len(self._tickets)

    @property
    def first(self) -> Ticket:
        return self._tickets[0][2]

    @property
    def head(self) -> Head | None:
        if not self._tickets:
            return None
        arrived, uid, _ = self._tickets[0]
        return arrived, uid, self

    def add(self, ticket: Ticket) -> None:
        insort(self._tickets, (ticket.claim.arrived, ticket.claim.uid, ticket))

    def remove(self, ticket: Ticket) -> None:
        del self._tickets[bisect_left(self._tickets, (ticket.claim.arrived, ticket.claim.uid))]


class Step:
    """The heads of the groups of one priority: all of them, and those of each project, by age."""

    __slots__ = ("heads", "of_project")

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self.of_project: dict[str, list[Head]] = {}

    def replace(self, project: str, before: Head | None, after: Head | None) -> None:
        of_project = self.of_project.setdefault(project, [])
        for heads in (self.heads, of_project):
            if before is not None:
                del heads[bisect_left(heads, before[:2])]
            if after is not None:
                insort(heads, after)
        if not of_project:
            del self.of_project[project]


class Ladder:
    """Steps by priority, the highest first; none is empty."""

    __slots__ = ("steps",)

    def __init__(self) -> None:
        self.steps: dict[int, Step] = {}

    def replace(self, priority: int, project: str, before: Head | None, after: Head | None) -> None:
        """A group has another head than before; None: it is, or was, empty."""
        step = self.steps.get(priority)
        if step is None:
            step = self.steps[priority] = Step()
            self.steps = dict(sorted(self.steps.items(), reverse=True))
        step.replace(project, before, after)
        if not step.heads:
            del self.steps[priority]
