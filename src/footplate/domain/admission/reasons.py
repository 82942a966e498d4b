"""What keeps a job waiting, as facts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from footplate.domain.admission.claims import Claim
    from footplate.domain.admission.floor import Floor
    from footplate.domain.admission.reservations import Reservation, Reservations
    from footplate.domain.admission.room import Needs, Room
    from footplate.domain.admission.tickets import Ticket


@dataclass(frozen=True)
class Shortage:
    """A resource of which there is less than is asked for."""

    resource: str
    asked: int
    held: int
    total: int

    @property
    def free(self) -> int:
        return max(0, self.total - self.held)


@dataclass(frozen=True)
class TooLarge:
    """It asks for more than its site has altogether."""

    shortages: tuple[Shortage, ...]


@dataclass(frozen=True)
class OverQuota:
    """Its project holds, with it, more than it may."""

    shortages: tuple[Shortage, ...]


@dataclass(frozen=True)
class NoRoom:
    """Its site lacks something; ``holders`` hold the scarcest of it, the largest first."""

    shortages: tuple[Shortage, ...]
    holders: tuple[tuple[Claim, int], ...]


@dataclass(frozen=True)
class Behind:
    """There is room, but taking it would delay a job that comes first.

    ``shortages``: what that one waits for. ``at``: the moment that it is promised.
    """

    first: Claim
    shortages: tuple[Shortage, ...]
    at: float


@dataclass(frozen=True)
class Soon:
    """Nothing is missing."""


Why = TooLarge | OverQuota | NoRoom | Behind | Soon


def why_waiting(ticket: Ticket, floor: Floor, reservations: Reservations, now: float) -> Why:
    """Why a job hasn't started in a round that has just made these reservations."""
    room, form, limited = floor.room, ticket.form, ticket.account.limited
    if not form.shape.possible:
        return TooLarge(_shortages(room, form.shape.needs, room.total))
    if not room.fits(limited):
        return OverQuota(_shortages(room, limited, room.free))
    if not room.fits(form.shape.needs):
        return NoRoom(
            _shortages(room, form.shape.needs, room.free), _holders(floor, form.shape.needs)
        )
    end = now + form.longest_s
    first = reservations.delayed_by(ticket.needs, now, end)
    if first is None:
        return Soon()
    lacking = _shortages(room, first.ticket.form.shape.needs, room.free)
    return Behind(first.ticket.claim, lacking, first.at)


def promise(ticket: Ticket, floor: Floor, reservations: Reservations) -> float | None:
    """The latest moment at which it starts, if limits that were asked for say so much."""
    made = reservations.made
    for index, reservation in enumerate(made):
        if reservation.ticket is ticket:
            return reservation.at if _certain(reservation, made[:index], floor) else None
    return None


def _certain(reservation: Reservation, before: list[Reservation], floor: Floor) -> bool:
    """Whether everything whose end it counts on has a limit that was asked for."""
    at, room, needs = reservation.at, floor.room, reservation.ticket.needs
    if at == math.inf:
        return False
    # With promises made before its own, it may count on an end of anything that it needs.
    counts = {place for place, amount in needs if before or amount > room.free[place]}
    holders = (holder for holder in floor.holders() if holder.end <= at)
    others = (other.ticket for other in before if other.until <= at)
    return all(
        ticket.claim.bounded
        for tickets in (holders, others)
        for ticket in tickets
        if counts & ticket.amounts.keys()
    ) and all(_certain(r, before[:i], floor) for i, r in enumerate(before) if r.until <= at)


def _shortages(room: Room, needs: Needs, there: list[float]) -> tuple[Shortage, ...]:
    """Where there is less than needed, the scarcest first: the least of what is asked for."""
    short = [(place, amount) for place, amount in needs if there[place] < amount]
    short.sort(key=lambda need: (there[need[0]] / need[1], room.names[need[0]]))
    return tuple(
        Shortage(room.names[place], amount, room.held[place], int(room.total[place]))
        for place, amount in short
    )


def _holders(floor: Floor, needs: Needs) -> tuple[tuple[Claim, int], ...]:
    """Who holds the scarcest of what is needed."""
    free = floor.room.free
    place, _ = min(needs, key=lambda n: (free[n[0]] / n[1], floor.room.names[n[0]]))
    held = ((t.claim, t.amounts[place]) for t in floor.holders() if place in t.amounts)
    return _largest_first(held)


def _largest_first(held: Iterable[tuple[Claim, int]]) -> tuple[tuple[Claim, int], ...]:
    return tuple(sorted(held, key=lambda pair: (-pair[1], pair[0].name, pair[0].uid)))
