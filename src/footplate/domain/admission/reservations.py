"""Moments promised to those that come first and find no room, and what others may take until then.

What is free of a site never shrinks between two reservations' beginnings, as everything that holds
only ends. So a job that would start now delays nobody if it fits at the beginning of each
reservation that it would still be there for, beside the one that is promised the room.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.domain.admission.floor import Floor
    from footplate.domain.admission.room import Needs
    from footplate.domain.admission.tickets import Ticket
    from footplate.domain.admission.walk import Rank


@dataclass(eq=False, slots=True)
class Reservation:
    """``at``: the earliest moment at which there is room for certain. ``until``: its latest end."""

    ticket: Ticket
    rank: Rank
    """When it was made."""
    at: float
    until: float
    left: dict[int, float]
    """What others may hold at that moment of what the job needs."""

    def is_exceeded_by(self, needs: Needs) -> bool:
        left = self.left
        # A loop: any() over a generator takes three times as long, and this is asked often.
        for place, amount in needs:  # noqa: SIM110
            if place in left and left[place] < amount:
                return True
        return False


class Reservations:
    """Those of one site in one round, in the order in which they were made."""

    def __init__(self, floor: Floor, now: float) -> None:
        self._floor = floor
        self._now = now
        self.made: list[Reservation] = []

    def of_line(self, accelerator: str) -> Reservation | None:
        found = (r for r in self.made if r.ticket.claim.accelerator == accelerator)
        return next(found, None)

    def delayed_by(self, needs: Needs, begin: float, end: float) -> Reservation | None:
        """The first that would be delayed by a job that holds so much between these moments."""
        for reservation in self.made:
            if begin <= reservation.at < end and reservation.is_exceeded_by(needs):
                return reservation
        return None

    def take(self, needs: Needs, begin: float, end: float) -> list[Reservation]:
        """A job will hold so much between these moments; the reservations that it is there for."""
        met = [reservation for reservation in self.made if begin <= reservation.at < end]
        for reservation in met:
            for place, amount in needs:
                if place in reservation.left:
                    reservation.left[place] -= amount
        return met

    def make(self, ticket: Ticket, rank: Rank) -> list[Reservation]:
        """The new one, and the earlier ones that leave less to others because of it."""
        needs, longest_s = ticket.needs, ticket.form.longest_s
        at = self._earliest(needs, longest_s)
        free, floor = {}, self._floor
        active = self._active(at)
        for place, amount in needs:
            promised = sum(other.get(place, 0) for other in active)
            free[place] = floor.free_at(place, at) - promised - amount
        met = self.take(needs, at, at + longest_s)
        reservation = Reservation(ticket, rank, at, at + longest_s, free)
        self.made.append(reservation)
        return [*met, reservation]

    def _earliest(self, needs: Needs, longest_s: float) -> float:
        """The first moment at which so much is free for so long."""
        at = self._now
        while at < math.inf:
            first = self._not_before(needs, at)
            if first > at:
                at = first
                continue
            delayed = self.delayed_by(needs, at, at + longest_s)
            if delayed is None:
                return at
            # Whoever begins at or before the delayed one's moment is still there then.
            at = self._next_change(needs, delayed.at)
        return at

    def _not_before(self, needs: Needs, at: float) -> float:
        """A moment before which there isn't enough of something; ``at`` itself: there is then."""
        active = self._active(at)
        for place, amount in needs:
            wanted = amount + sum(other.get(place, 0) for other in active)
            first = self._floor.first_room(place, wanted)
            if first > at:
                return min(first, self._next_end(at))
        return at

    def _next_change(self, needs: Needs, after: float) -> float:
        """The next moment at which there is more of what is needed."""
        return min(self._floor.next_release(needs, after), self._next_end(after))

    def _next_end(self, after: float) -> float:
        return min((r.until for r in self.made if r.until > after), default=math.inf)

    def _active(self, at: float) -> list[dict[int, int]]:
        """What is promised for that moment, by each promise."""
        return [r.ticket.amounts for r in self.made if r.at <= at < r.until]
