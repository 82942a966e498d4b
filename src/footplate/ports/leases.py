"""Who leads among the servers of one database, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Lease:
    """``epoch`` rises with each taking, also by the same holder.

    ``holder`` is empty where it was given back. ``expires`` is only good for comparing, ``left_s``
    is by the clock of whoever keeps the lease, and may be less than 0.
    """

    holder: str
    url: str
    epoch: int
    expires: int
    left_s: float


class Leases(Protocol):
    """Every method is one transaction. All may raise Unavailable."""

    def look(self) -> Lease | None:
        """The lease as it is; None: nobody has ever had it."""
        ...

    def take(
        self, holder: str, url: str, life_s: float, unrenewed: Lease | None = None
    ) -> Lease | None:
        """The lease, with an epoch of its own, if it is free or over; else None.

        Also if it is still ``unrenewed``: as it was when whoever asks saw it, a whole life ago by
        a clock that nobody sets.
        """
        ...

    def renew(self, lease: Lease, life_s: float) -> Lease | None:
        """The lease for another life; None: it is over, or somebody else's."""
        ...

    def release(self, lease: Lease) -> None:
        """Give it back; it isn't ours any more: nothing happens."""
        ...
