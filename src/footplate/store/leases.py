"""The leader's lease in PostgreSQL, and its substitute for a single server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, insert, select, update

from footplate.domain.errors import NotLeading
from footplate.ports.leases import Lease
from footplate.ports.notifications import NoticeKind
from footplate.store.database_clock import MICROS, now_micros
from footplate.store.tables import leases

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import ColumnElement, Connection

    from footplate.store.row_codec import Record
    from footplate.store.transactions import Transactions

_NAME = "control"
_FENCE = 0x666F6F746C656164  # "footlead": any number, the same for all of us
_HERE = leases.c.name == _NAME


class SqlLeases:
    """Implements ``ports.leases.Leases`` in PostgreSQL."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def inspect(self) -> Lease | None:
        with self._transactions.reading() as connection:
            row = connection.execute(select(leases).where(_HERE)).one_or_none()
            return None if row is None else _lease(row, now_micros(connection))

    def take(
        self, holder: str, url: str, life_s: float, unrenewed: Lease | None = None
    ) -> Lease | None:
        with self._transactions.writing() as connection:
            # All that write as the leader share this lock: none of them is in the middle.
            connection.execute(select(func.pg_advisory_xact_lock(_FENCE)))
            row = connection.execute(select(leases).where(_HERE)).one_or_none()
            now = now_micros(connection)
            if row is not None and not _is_over(_lease(row, now), unrenewed):
                return None
            epoch = 1 if row is None else row.epoch + 1
            fresh = Lease(holder, url, epoch, now + int(life_s * MICROS), life_s)
            values = {"holder": holder, "url": url, "epoch": epoch, "expires": fresh.expires}
            if row is None:
                connection.execute(insert(leases).values(name=_NAME, **values))
            else:
                connection.execute(update(leases).where(_HERE).values(values))
            self._transactions.tell(connection, NoticeKind.LEASE)
        return fresh

    def renew(self, lease: Lease, life_s: float) -> Lease | None:
        with self._transactions.writing() as connection:
            now = now_micros(connection)
            expires = now + int(life_s * MICROS)
            ours = _is_ours(lease) & (leases.c.expires > now)
            if not connection.execute(update(leases).where(ours).values(expires=expires)).rowcount:
                return None
        return Lease(lease.holder, lease.url, lease.epoch, expires, life_s)

    def release(self, lease: Lease) -> None:
        with self._transactions.writing() as connection:
            given = update(leases).where(_is_ours(lease)).values(holder="", expires=0)
            if connection.execute(given).rowcount:
                self._transactions.tell(connection, NoticeKind.LEASE)


class SingleServerLeases:
    """The leases of a SQLite database in a data directory, whose only server always leads."""

    def __init__(self) -> None:
        self._lease: Lease | None = None

    def inspect(self) -> Lease | None:
        return self._lease

    def take(
        self, holder: str, url: str, life_s: float, unrenewed: Lease | None = None
    ) -> Lease | None:
        before = self._lease
        if before is not None and not _is_over(before, unrenewed):
            return None
        self._lease = Lease(holder, url, before.epoch + 1 if before else 1, 0, life_s)
        return self._lease

    def renew(self, lease: Lease, life_s: float) -> Lease | None:
        held = self._lease
        ours = held is not None and (held.holder, held.epoch) == (lease.holder, lease.epoch)
        return Lease(lease.holder, lease.url, lease.epoch, 0, life_s) if ours else None

    def release(self, lease: Lease) -> None:
        if self.renew(lease, 0.0) is not None:
            self._lease = Lease("", "", lease.epoch, 0, 0.0)


def fence(lease: Lease) -> Callable[[Connection], None]:
    """Returns a check that refuses transactions once another server leads.

    It also makes another server wait for the transaction's end before it takes the lead.
    """

    def check(connection: Connection) -> None:
        connection.execute(select(func.pg_advisory_xact_lock_shared(_FENCE)))
        # By its holder, too: a database that went back in time gives out an epoch once more.
        if connection.scalar(select(func.count()).where(_is_ours(lease))) != 1:
            raise NotLeading("another server leads now")

    return check


def _is_over(lease: Lease, unrenewed: Lease | None) -> bool:
    as_it_was = unrenewed is not None and (lease.epoch, lease.expires) == (
        unrenewed.epoch,
        unrenewed.expires,
    )
    return not lease.holder or lease.left_s <= 0 or as_it_was


def _is_ours(lease: Lease) -> ColumnElement[bool]:
    return _HERE & (leases.c.holder == lease.holder) & (leases.c.epoch == lease.epoch)


def _lease(row: Record, now: int) -> Lease:
    return Lease(row.holder, row.url, row.epoch, row.expires, (row.expires - now) / MICROS)
