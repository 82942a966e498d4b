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


@dataclass(eq=False, slots=True)
class Reservation:
    """``at``: the earliest moment at which there is room for certain. ``until``: its latest end."""

    ticket: Ticket
    at: float
    until: float
    left: dict[int, float]
    """What others may hold at that moment of what the job needs."""


class Reservations:
    """Those of one site in one round, in the order in which they were made."""

    def __init__(self, floor: Floor, now: float) -> None:
        self._floor = floor
        self._now = now
        self.made: list[Reservation] = []

    def delayed_by(self, needs: Needs, begin: float, end: float) -> Reservation | None:
        """The first that would be delayed by a job that holds so much between these moments."""
        for reservation in self.made:
            if begin <= reservation.at < end:
                left = reservation.left
                for place, amount in needs:
                    if amount > left.get(place, math.inf):
                        return reservation
        return None

    def take(self, needs: Needs, begin: float, end: float) -> None:
        """A job will hold so much between these moments."""
        for reservation in self.made:
            if begin <= reservation.at < end:
                for place, amount in needs:
                    if place in reservation.left:
                        reservation.left[place] -= amount

    def make(self, ticket: Ticket) -> Reservation:
        needs, longest_s = ticket.needs, ticket.form.longest_s
        at, free = self._earliest(needs, longest_s)
        self.take(needs, at, at + longest_s)
        left = {place: free[place] - amount for place, amount in needs}
        reservation = Reservation(ticket, at, at + longest_s, left)
        self.made.append(reservation)
        return reservation

    def _earliest(self, needs: Needs, longest_s: float) -> tuple[float, dict[int, float]]:
        """The first moment at which so much is free for so long, and what is free then."""
        forecast = _Forecast(self._floor, needs, self._now)
        forecast.go_to_room()
        while True:
            at = forecast.moment
            free = self._undisturbed(forecast.free, at)
            fits = all(free[place] >= amount for place, amount in needs)
            if fits and self.delayed_by(needs, at, at + longest_s) is None:
                return at, free
            ends = (reservation.until for reservation in self.made)
            following = min((end for end in ends if end > at), default=math.inf)
            if not forecast.go_on(following):
                return math.inf, free

    def _undisturbed(self, free: dict[int, float], at: float) -> dict[int, float]:
        """What is free then, less what is promised for that moment."""
        remaining = dict(free)
        for reservation in self.made:
            if reservation.at <= at < reservation.until:
                for place, amount in reservation.ticket.needs:
                    if place in remaining:
                        remaining[place] -= amount
        return remaining


class _Forecast:
    """What is free of some resources, moment by moment, if each job ends as late as it may."""

    def __init__(self, floor: Floor, needs: Needs, now: float) -> None:
        self.moment = now
        self.free = {place: floor.room.free[place] for place, _ in needs}
        self._needs = needs
        self._ends = floor.ends
        self._next = 0
        self._release()

    def go_to_room(self) -> None:
        """To the first moment at which there is enough, reservations apart."""
        short = {place: n - self.free[place] for place, n in self._needs if n > self.free[place]}
        while short and self._next < len(self._ends):
            end, _, ticket = self._ends[self._next]
            self.moment = max(self.moment, end)
            self._next += 1
            for place, amount in ticket.amounts.items():
                if place in self.free:
                    self.free[place] += amount
                    if short.get(place, math.inf) <= amount:
                        del short[place]
                    elif place in short:
                        short[place] -= amount
        self._release()

    def go_on(self, latest: float) -> bool:
        """To the next moment at which something ends, but not past ``latest``."""
        ends = self._ends
        following = ends[self._next][0] if self._next < len(ends) else math.inf
        self.moment = min(following, latest)
        self._release()
        return self.moment < math.inf

    def _release(self) -> None:
        """What has ended at this moment is free."""
        while self._next < len(self._ends) and self._ends[self._next][0] <= self.moment:
            for place, amount in self._ends[self._next][2].amounts.items():
                if place in self.free:
                    self.free[place] += amount
            self._next += 1
