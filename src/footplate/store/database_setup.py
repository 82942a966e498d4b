"""Opens a database: creates it or migrates it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, inspect, select, text
from sqlalchemy.exc import DBAPIError

from footplate.domain.errors import FailedPrecondition
from footplate.sqlite_damage import find_damage
from footplate.store.errors import damaged, place, translated
from footplate.store.jobs import SqlStore
from footplate.store.sql_engines import NO_TRANSACTION, TO_WRITE, make_engine, parse_url
from footplate.store.tables import REVISION, metadata, revisions

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_UNRELEASED = (*(f"000{number}" for number in range(1, 9)), "1001", "1002")
"""Revisions of databases that versions before the first release made."""
_ADVISORY_LOCK = 0x666F6F74706C61  # "footpla": any number, the same for all of us


def open_store(
    url: str,
    *,
    lock_timeout_s: float = 15.0,
    server: str = "",
    sole: bool = False,
    lost: str = "",
) -> SqlStore:
    """Opens the store in a database; creates a new database, and migrates an old one.

    ``url`` is ``sqlite:////PATH/TO/FILE`` (its folder must exist) or ``postgresql://...``.
    ``lock_timeout_s`` is how long a write to SQLite waits for other programs, ``server`` the id of
    the server that writes. ``sole``: nobody else writes a SQLite database while the store is open,
    and its pages are checked first. ``lost`` is the message that refuses an empty database where
    there was data before.

    Raises:
        InvalidArgument: the URL names no database that can be used.
        FailedPrecondition: the database belongs to a newer version, its driver is missing, or it is
            empty and ``lost`` is set.
        Unavailable: the database can't be reached.
        DataLoss: the database is damaged.
    """
    engine = make_engine(parse_url(url), lock_timeout_s)
    try:
        with translated(engine.url), _usable(engine):
            if lost:
                _refuse_empty(engine, lost)
            bring_up_to_date(engine)
            if sole:
                _check_pages(engine)
    except BaseException:
        engine.dispose()
        raise
    return SqlStore(engine, server)


def bring_up_to_date(engine: Engine) -> None:
    """Migrates the database once and completely, even if others open it at the same time."""
    with engine.connect() as connection:
        if stored_revision(connection) == REVISION and _in_wal_mode(connection):
            return
    with alone(engine) as connection:
        # Read again under the lock: another server may have migrated the database meanwhile.
        revision = stored_revision(connection)
        if revision is None:
            _create(connection)
        elif revision in _UNRELEASED:
            raise FailedPrecondition(
                f"the database was made by a development version of Footplate (revision {revision})"
                " and can't be read. Export what you need with that version, or start with a new"
                " data directory (and database)"
            )
        elif revision != REVISION:
            # Here and not above: Alembic costs as much time to import as all else together,
            # and a server that starts on a database of its own version has no need of it.
            from footplate.store.migrations.runner import migrate

            migrate(connection)


def _refuse_empty(engine: Engine, why: str) -> None:
    with engine.connect() as connection:
        if stored_revision(connection) is None:
            raise FailedPrecondition(why)


def _check_pages(engine: Engine) -> None:
    """Checks the pages of SQLite's file. Raises DataLoss: one is damaged."""
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
        if found := find_damage(driver):
            raise damaged(engine.url, found)


def stored_revision(connection: Connection) -> str | None:
    """Returns the database's revision; None: it has no tables of this service."""
    if not inspect(connection).has_table(revisions.name):
        return None
    return connection.scalar(select(revisions.c.version_num))


def _create(connection: Connection) -> None:
    """Creates all tables at once, without migrations; a test keeps the two ways equal."""
    metadata.create_all(connection, checkfirst=False)
    revisions.create(connection)
    connection.execute(insert(revisions).values(version_num=REVISION))


@contextmanager
def alone(engine: Engine) -> Iterator[Connection]:
    """Yields a transaction; nobody else can open this database during it."""
    if engine.dialect.name == "postgresql":
        with engine.begin() as connection:
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})"))
            yield connection
        return
    with _folder_lock(Path(str(engine.url.database)).parent), engine.connect() as connection:
        connection.execution_options(**NO_TRANSACTION)
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")  # the file remembers it
        # SQLite rebuilds a table to change it: with foreign keys on, dropping the old one
        # would delete everything that refers to its rows.
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        # SQLAlchemy has begun a transaction of its own by now, and allows no second one.
        connection.rollback()
        with connection.execution_options(**TO_WRITE).begin():
            yield connection
        connection.invalidate()  # the next one has its foreign keys on


@contextmanager
def _folder_lock(folder: Path) -> Iterator[None]:
    """Context manager that locks the folder.

    SQLite doesn't wait for others when it changes the journal mode: it fails at once.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _in_wal_mode(connection: Connection) -> bool:
    if connection.dialect.name != "sqlite":
        return True
    return connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


@contextmanager
def _usable(engine: Engine) -> Iterator[None]:
    """Context manager that translates errors of opening a database that is unsuitable for good."""
    try:
        yield
    except DBAPIError as error:
        cause = " ".join(str(error.orig).split())
        if "already exists" in cause or "permission denied" in cause:
            where = place(engine.url)
            message = f"Footplate needs a database of its own, and can't set up {where}: {cause}"
            raise FailedPrecondition(message) from error
        raise
