"""The lease port: which server leads, and until when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Lease:
    """The lease of the leading server; ``epoch`` rises each time that it is taken.

    ``holder`` is empty after it was released. ``expires`` is only for comparing. ``left_s`` is by
    the clock of the store, and may be negative.
    """

    holder: str
    url: str
    epoch: int
    expires: int
    left_s: float


class Leases(Protocol):
    """The store of the lease; every method is one transaction, and may raise Unavailable."""

    def inspect(self) -> Lease | None:
        """Returns the current lease; None: it was never taken."""
        ...

    def take(
        self, holder: str, url: str, life_s: float, unrenewed: Lease | None = None
    ) -> Lease | None:
        """Takes the lease if it is free or expired, with a new epoch; else returns None.

        It may also be taken if it is still ``unrenewed``: unchanged since the caller read it, a
        whole life ago by a monotonic clock.
        """
        ...

    def renew(self, lease: Lease, life_s: float) -> Lease | None:
        """Renews the lease; None: it has expired, or another server holds it."""
        ...

    def release(self, lease: Lease) -> None:
        """Releases the lease; does nothing if another server has taken it."""
        ...
