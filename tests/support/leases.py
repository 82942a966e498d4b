"""A lease in memory, by a clock that the test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Unavailable
from footplate.ports.leases import Lease

if TYPE_CHECKING:
    from collections.abc import Callable


class MemoryLeases:
    """Implements ``ports.leases.Leases``; ``now_s`` is the clock of whoever keeps the lease."""

    def __init__(self, now_s: Callable[[], float] = lambda: 0.0) -> None:
        self._now_s = now_s
        self._row: tuple[str, str, int, float] | None = None
        self.away = False
        """The database can't be reached."""

    def inspect(self) -> Lease | None:
        self._reach()
        if self._row is None:
            return None
        holder, url, epoch, expires_s = self._row
        return Lease(holder, url, epoch, round(expires_s * 1e6), expires_s - self._now_s())

    def take(
        self, holder: str, url: str, life_s: float, unrenewed: Lease | None = None
    ) -> Lease | None:
        found = self.inspect()
        if found is not None and found.holder and found.left_s > 0:
            seen = None if unrenewed is None else (unrenewed.epoch, unrenewed.expires)
            if (found.epoch, found.expires) != seen:
                return None
        return self._write(holder, url, 1 if found is None else found.epoch + 1, life_s)

    def renew(self, lease: Lease, life_s: float) -> Lease | None:
        found = self.inspect()
        if found is None or not self._is_ours(lease) or found.left_s <= 0:
            return None
        return self._write(lease.holder, lease.url, lease.epoch, life_s)

    def release(self, lease: Lease) -> None:
        self._reach()
        if self._is_ours(lease):
            self._row = ("", "", lease.epoch, 0.0)

    def _is_ours(self, lease: Lease) -> bool:
        return self._row is not None and self._row[::2][:2] == (lease.holder, lease.epoch)

    def _write(self, holder: str, url: str, epoch: int, life_s: float) -> Lease | None:
        self._row = (holder, url, epoch, self._now_s() + life_s)
        return self.inspect()

    def _reach(self) -> None:
        if self.away:
            raise Unavailable("the database is away")
