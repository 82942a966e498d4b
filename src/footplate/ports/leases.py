"""The lease port: which server leads, and until when."""

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
    """The store of leases. Every method is one transaction. All may raise Unavailable."""

    def inspect(self) -> Lease | None:
        """Returns the current lease; None: there never was one."""
        ...

    def take(
        self, holder: str, url: str, life_s: float, unrenewed: Lease | None = None
    ) -> Lease | None:
        """Returns a lease with a new epoch if it is free or expired; else None.

        Also if it is still ``unrenewed``: as it was when whoever asks saw it, a whole life ago by
        a clock that nobody sets.
        """
        ...

    def renew(self, lease: Lease, life_s: float) -> Lease | None:
        """Renews the lease; None: it is expired or held by another server."""
        ...

    def release(self, lease: Lease) -> None:
        """Gives the lease back; does nothing if it isn't ours any more."""
        ...
