"""Claims as the desk keeps them: those that are alike share what is known of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, finalize

if TYPE_CHECKING:
    from footplate.domain.admission.claims import Claim
    from footplate.domain.admission.room import Needs, Room
    from footplate.domain.amounts import Amounts


@dataclass(eq=False, slots=True, weakref_slot=True)
class Shape:
    """What claims in one line have in common that hold the same of the site."""

    needs: Needs
    possible: bool
    """Whether the site as a whole is large enough."""
    forms: dict[Form, None] = field(default_factory=dict)
    """Those of it that wait."""
    shortest_s: float = math.inf
    """Of those forms."""
    deadline: float = math.inf
    """In a round: what starts now must have ended by then; minus infinity: nothing can start."""

    def add(self, form: Form) -> None:
        """One more waits."""
        form.waiting += 1
        if form.waiting == 1:
            self.forms[form] = None
            self.shortest_s = min(self.shortest_s, form.longest_s)

    def remove(self, form: Form) -> None:
        """One less waits."""
        form.waiting -= 1
        if not form.waiting:
            del self.forms[form]
            self.shortest_s = min((other.longest_s for other in self.forms), default=math.inf)

    def is_live(self, now: float) -> bool:
        """Whether any of its forms could start now, in a round."""
        return now + self.shortest_s <= self.deadline


@dataclass(eq=False, slots=True, weakref_slot=True)
class Form:
    """What claims of one shape have in common that may run equally long."""

    shape: Shape
    longest_s: float
    waiting: int = 0

    def is_live(self, now: float) -> bool:
        """Whether such a job could start now, as far as the site goes, in a round."""
        return now + self.longest_s <= self.shape.deadline


@dataclass(eq=False, slots=True, weakref_slot=True)
class Account:
    """What claims have in common that count the same against the same quota."""

    needs: Needs
    limited: Needs
    """Those of the needs that a quota limits."""
    spent_in: int = 0
    """The last round in which the quota had no room for such a job."""


@dataclass(eq=False, slots=True)
class Ticket:
    """One claim that waits, or holds since ``since`` until ``end`` at the latest."""

    claim: Claim
    form: Form
    account: Account
    since: float | None = None
    end: float = 0.0
    amounts: dict[int, int] = field(init=False)
    """All that it takes, of its site and of its quota."""

    def __post_init__(self) -> None:
        self.amounts = dict(self.form.shape.needs + self.account.needs)

    @property
    def needs(self) -> Needs:
        """What must be free for it."""
        return self.form.shape.needs + self.account.limited


class Clerk:
    """Makes tickets. What tickets share lives as long as one of them has it."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._shapes: WeakValueDictionary[tuple[object, ...], Shape] = WeakValueDictionary()
        self._forms: WeakValueDictionary[tuple[object, ...], Form] = WeakValueDictionary()
        self._accounts: WeakValueDictionary[tuple[object, ...], Account] = WeakValueDictionary()

    def ticket(self, claim: Claim) -> Ticket:
        return Ticket(claim, self._form(claim), self._account(claim))

    def see_limits(self) -> None:
        """The quotas are others now."""
        for account in self._accounts.values():
            account.limited = self._room.limited(account.needs)

    def _form(self, claim: Claim) -> Form:
        key = (claim.site, claim.accelerator, _key(claim.holds))
        form = self._forms.get((*key, claim.longest_s))
        if form is None:
            shape = self._shapes.get(key)
            if shape is None:
                needs = self._room.site_needs(claim.site, claim.holds)
                shape = self._shapes[key] = Shape(needs, self._room.can_ever_fit(needs))
            form = self._forms[*key, claim.longest_s] = Form(shape, claim.longest_s)
        return form

    def _account(self, claim: Claim) -> Account:
        key = (claim.project, claim.region, _key(claim.counts))
        account = self._accounts.get(key)
        if account is None:
            needs = self._room.open_account(claim.project, claim.region, claim.counts)
            account = self._accounts[key] = Account(needs, self._room.limited(needs))
            finalize(account, self._room.close_account, claim.project, claim.region)
        return account


def _key(amounts: Amounts) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(amounts.items()))
