"""The register of servers in PostgreSQL, and its substitute for a single server."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, text, update

from footplate.domain.errors import FailedPrecondition, NotLeading
from footplate.ports.leases import Lease
from footplate.ports.notifications import NoticeKind
from footplate.ports.servers import Member
from footplate.store.documents import read, write
from footplate.store.tables import home, leases, servers
from footplate.store.transactions import Transactions

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from footplate.store.row_codec import Record


# PostgreSQL's clock, which all servers share.

MICROS = 1_000_000
_NOW = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")


def now_micros(connection: Connection) -> int:
    return int(connection.scalar(_NOW) or 0)


# The leader's lease in PostgreSQL, and its substitute for a single server.

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
        # The lock comes before the check, and is held until the commit. A taking of the lead needs
        # it exclusively, so no other server takes the lead until this transaction is over. With
        # the check first, another server could take the lead between the two, and this transaction
        # would write in its term. The check sees a taking that has just ended, because in this
        # isolation level each statement sees what was committed before it.
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


_JOINING = 0x666F6F746A6F696E  # "footjoin": any number, the same for all of us
SQLITE = "sqlite"
"""The identity of every SQLite database: its directory's lock tells them apart."""
_ELSE = "or choose another database (FOOTPLATE_DATABASE_URL)"


class SqlServers:
    """Implements ``ports.servers.Servers`` in PostgreSQL."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def join(self, member: Member, silent_s: float, database: str | None = None) -> str:
        with self._transactions.writing() as connection:
            # Of two servers that join at once, one has to find the other in the register.
            connection.execute(select(func.pg_advisory_xact_lock(_JOINING)))
            now = now_micros(connection)
            _forget_dead(connection, now, silent_s)
            for other in _living(connection):
                _check_company(member, other, silent_s)
            found = _check_home(connection, member, database)
            _register(connection, member, now)
        return found

    def heartbeat(self, member: Member, silent_s: float) -> bool:
        with self._transactions.writing() as connection:
            now = now_micros(connection)
            here = update(servers).where(servers.c.id == member.id).values(seen=now)
            found = connection.execute(here).rowcount > 0
            _forget_dead(connection, now, silent_s)
        return found

    def leave(self, server: str) -> None:
        with self._transactions.writing() as connection:
            connection.execute(delete(servers).where(servers.c.id == server))

    def living(self, silent_s: float) -> tuple[Member, ...]:
        with self._transactions.reading() as connection:
            oldest = now_micros(connection) - int(silent_s * MICROS)
            return _living(connection, oldest)


class SingleServer:
    """The membership of the only server of a SQLite database and its data directory."""

    def __init__(self) -> None:
        self._member: Member | None = None

    def join(
        self,
        member: Member,
        silent_s: float,  # noqa: ARG002
        database: str | None = None,
    ) -> str:
        if database not in (None, SQLITE):
            raise FailedPrecondition(
                f"the data directory {member.data_dir} belongs to a PostgreSQL database, whose "
                "jobs may still run there; name that database in FOOTPLATE_DATABASE_URL, or choose "
                "another --data-dir"
            )
        self._member = member
        return SQLITE

    def heartbeat(self, member: Member, silent_s: float) -> bool:  # noqa: ARG002
        return self._member is not None

    def leave(self, server: str) -> None:  # noqa: ARG002
        self._member = None

    def living(self, silent_s: float) -> tuple[Member, ...]:  # noqa: ARG002
        return () if self._member is None else (self._member,)


def _check_company(member: Member, other: Member, silent_s: float) -> None:
    """Checks that two servers may share the database.

    Raises FailedPrecondition: they run on different machines, or with different data directories.
    """
    who = f"the server {other.url} (process {other.pid} on {other.host})"
    if other.machine != member.machine:
        raise FailedPrecondition(
            f"{who} uses this database already: servers that share a database run on one machine, "
            f"with one data directory. Start this server there with --data-dir {other.data_dir}, "
            f"stop that server first (a killed server counts as alive for {silent_s:g} s), {_ELSE}"
        )
    if other.data_dir_id != member.data_dir_id:
        raise FailedPrecondition(
            f"{who} uses this database with the data directory {other.data_dir}, where its logs "
            f"and buckets are; start this server with --data-dir {other.data_dir}, {_ELSE}"
        )


def _check_home(connection: Connection, member: Member, database: str | None) -> str:
    """Checks that the server's data directory belongs to this database; returns the database's id.

    A database without an id gets one. Raises FailedPrecondition: the directory belongs to another
    database, or the database to another directory.
    """
    place = f"{member.host}:{member.data_dir}"
    row = connection.execute(select(home)).one_or_none()
    known = None if row is None else row.database_id
    if database not in (None, known):
        raise FailedPrecondition(
            f"the data directory {member.data_dir} belongs to another database, whose jobs may "
            "still run in it; use that database, or choose another --data-dir"
        )
    if row is None:
        made = secrets.token_hex(10)
        values = {"database_id": made, "data_dir_id": member.data_dir_id, "place": place}
        connection.execute(insert(home).values(values))
        return made
    # In the same place another one was made: then that one is gone.
    if row.data_dir_id != member.data_dir_id and row.place != place:
        raise FailedPrecondition(
            f"this database belongs to the data directory {row.place}, where the logs and buckets "
            f"of its jobs are; start the server there, {_ELSE}. If that directory is gone for "
            "good, empty the database's table `home`"
        )
    values = {"data_dir_id": member.data_dir_id, "place": place}
    connection.execute(update(home).values(values))
    return str(row.database_id)


def _register(connection: Connection, member: Member, now: int) -> None:
    connection.execute(delete(servers).where(servers.c.id == member.id))
    row = {"id": member.id, "seen": now, "body": write(member)}
    connection.execute(insert(servers).values(row))


def _forget_dead(connection: Connection, now: int, silent_s: float) -> None:
    oldest = now - int(silent_s * MICROS)
    connection.execute(delete(servers).where(servers.c.seen < oldest))


def _living(connection: Connection, oldest: int = 0) -> tuple[Member, ...]:
    bodies = connection.scalars(select(servers.c.body).where(servers.c.seen >= oldest))
    return tuple(sorted((read(Member, body) for body in bodies), key=lambda each: each.url))
