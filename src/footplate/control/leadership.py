"""Leader election: acquires the lease, renews it, and gives up in time when renewal fails."""

from __future__ import annotations

import logging
from collections.abc import Callable

from footplate.domain.errors import ServiceError
from footplate.ports.leases import Lease, Leases

_RENEWALS = 3
"""The number of renewals in the life of a lease.

After a renewal that failed, two thirds of the life are left for more tries, one every ``_AGAIN``.
"""
_AGAIN = 20
"""What part of a life passes before the database is asked again that was away."""
_log = logging.getLogger(__name__)


class Leadership:
    """Decides whether this server leads.

    Only one thread may call ``step``; any thread may read ``leads``. By the monotonic clock the
    server never leads longer than its lease lasts, even if it had no time to notice the end: the
    lease's life is counted from before the request that renewed it.
    """

    def __init__(
        self,
        leases: Leases,
        server: str,
        url: str,
        life_s: float,
        monotonic: Callable[[], float],
        begin: Callable[[Lease, Callable[[], bool]], None],
        end: Callable[[], None],
        keep: Callable[[], None] = lambda: None,
    ) -> None:
        """Stores what is called within ``step`` or ``close``.

        ``begin`` is called when this server starts to lead, with its lease and a function that
        returns whether it still leads; ``keep`` after each renewal; ``end`` when it no longer
        leads.
        """
        self._leases = leases
        self._server = server
        self._url = url
        self._life_s = life_s
        self._monotonic = monotonic
        self._begin = begin
        self._end = end
        self._keep = keep
        self._lease: Lease | None = None
        self._until = 0.0
        self._seen: Lease | None = None
        """Another's lease as it was first seen so, and when."""
        self._seen_at = 0.0

    @property
    def leads(self) -> bool:
        return self._lease is not None and self._monotonic() < self._until

    @property
    def leader_url(self) -> str | None:
        """Returns the URL of the leading server, as far as is known; None: no server leads."""
        if self.leads:
            return self._url
        seen = self._seen
        return seen.url if seen is not None and seen.holder else None

    def step(self) -> float:
        """Takes or renews the lease; returns the seconds until the next step is due."""
        try:
            return self._try() if self._lease is None else self._hold(self._lease)
        except ServiceError as error:
            if self._lease is not None and not self.leads:
                self._lose(f"this server could not renew its lease on the lead: {error.message}")
            return self._life_s / _AGAIN

    def close(self) -> None:
        """Releases the lease, so that another server may lead at once.

        It is to be called after the last ``step``.
        """
        lease, self._lease = self._lease, None
        if lease is None:
            return
        # The services stop before the release: another server may lead from that moment.
        self._end()
        try:
            self._leases.release(lease)
        except ServiceError as error:
            _log.warning("this server can't hand the lead to another server: %s", error.message)

    def _hold(self, lease: Lease) -> float:
        if not self.leads:
            self._lose("this server was too slow to renew its lease on the lead")
            return 0.0
        asked_at = self._monotonic()
        renewed = self._leases.renew(lease, self._life_s)
        if renewed is None:
            self._lose("another server has the lease on the lead")
            return 0.0
        self._lease, self._until = renewed, asked_at + self._life_s
        self._keep()
        return self._life_s / _RENEWALS

    def _try(self) -> float:
        asked_at = self._monotonic()
        lease = self._leases.take(self._server, self._url, self._life_s, self._unrenewed())
        if lease is None:
            return self._watch(self._leases.inspect())
        self._seen = None
        self._lease, self._until = lease, asked_at + self._life_s
        try:
            self._begin(lease, lambda: self.leads)
        except BaseException:  # any error: perhaps another server succeeds
            self._lease = None
            self._leases.release(lease)
            raise
        return self._life_s / _RENEWALS

    def _watch(self, lease: Lease | None) -> float:
        """Records the lease that was read; returns the seconds until it should be read again."""
        now, seen = self._monotonic(), self._seen
        before = None if seen is None else (seen.epoch, seen.expires)
        if lease is not None and (lease.epoch, lease.expires) != before:
            self._seen_at = now
        self._seen = lease
        left_s = 0.0 if lease is None else lease.left_s
        return min(max(left_s, self._life_s / _AGAIN), self._life_s / _RENEWALS)

    def _unrenewed(self) -> Lease | None:
        """Returns the last lease read if it wasn't renewed for its whole life; else None."""
        # The clock of the database may be set back. A dead leader's lease would then last for as
        # long as the clock was turned back. So a lease that stays the same for a whole life by
        # this server's monotonic clock counts as over, too. The store compares epoch and expiry
        # once more as it takes it.
        aged = self._monotonic() - self._seen_at > self._life_s
        return self._seen if self._seen is not None and aged else None

    def _lose(self, why: str) -> None:
        _log.warning("this server no longer leads: %s", why)
        # First, so that no pass begins while `end` waits for the passes in progress. If another
        # server has taken the lease, it leads already, and `_until` may still be in the future.
        self._lease = None
        self._end()
