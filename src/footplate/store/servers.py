"""The register of servers in PostgreSQL, and its substitute for a single server."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from footplate.domain.errors import FailedPrecondition
from footplate.ports.servers import Member
from footplate.store.database_clock import MICROS, now_micros
from footplate.store.documents import read, write
from footplate.store.tables import home, servers

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from footplate.store.transactions import Transactions

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
