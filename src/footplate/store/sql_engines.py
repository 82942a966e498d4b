"""SQL engines for SQLite and PostgreSQL, configured to behave alike."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError, OperationalError

from footplate.domain.errors import FailedPrecondition, InvalidArgument, Violation

if TYPE_CHECKING:
    import sqlite3

    from sqlalchemy import Connection, Engine

BEGIN = "footplate_begin"
"""An execution option: how SQLite begins the connection's transactions; empty: it doesn't."""

TO_WRITE = {BEGIN: "BEGIN IMMEDIATE"}
"""Takes the write lock before anything is read, so that what a write is decided on can't change
until the commit. (A transaction that begins by reading fails if another one wrote since.)"""

NO_TRANSACTION = {BEGIN: ""}

MOST_IDLE_S = 5
"""A transaction of PostgreSQL in which nothing is said for so long is undone."""

_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""With a host that has vanished from the network; the URL may say otherwise."""

_POSTGRESQL = frozenset({"postgres", "postgresql", "postgresql+psycopg"})


def parse_url(text: str) -> URL:
    """Parses a database's URL; a path to SQLite's file is used unchanged.

    Raises:
        InvalidArgument: the text names no database that can be used.
    """
    if text.startswith("sqlite:"):
        return _parse_sqlite(text)
    try:
        url = make_url(text)
    except ArgumentError:
        raise _bad_url("the text is not a URL") from None
    if url.drivername not in _POSTGRESQL:
        raise _bad_url(f"{url.drivername} given")
    return url.set(drivername="postgresql+psycopg")


def _parse_sqlite(text: str) -> URL:
    """Parses a URL without SQLAlchemy, which would look for options and escapes in folder names."""
    path = text.removeprefix("sqlite:///")
    if path in (text, "", ":memory:"):
        raise _bad_url("SQLite needs a file")
    return URL.create("sqlite", database=path)


def _bad_url(why: str) -> InvalidArgument:
    rule = "sqlite:////PATH/TO/FILE or postgresql://USER@HOST/DATABASE"
    return InvalidArgument.of((Violation("database", f"{why}; allowed: {rule}"),))


def make_engine(url: URL, lock_timeout_s: float) -> Engine:
    """Makes an engine, which hasn't connected yet.

    Raises:
        FailedPrecondition: the database's driver isn't installed.
    """
    if url.get_backend_name() == "sqlite":
        return _make_sqlite(url, lock_timeout_s)
    try:
        # The ping finds connections that died with an earlier life of the server.
        engine = create_engine(
            url,
            pool_size=10,
            max_overflow=20,
            pool_pre_ping=True,
            connect_args={k: v for k, v in _PATIENCE.items() if k not in url.query},
        )
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        hint = "pip install 'footplate[postgresql]'"
        raise FailedPrecondition(f"{error}: PostgreSQL needs a driver; {hint}") from error
    event.listen(engine, "connect", _bound_idleness)
    return engine


def _bound_idleness(connection: Any, _record: Any) -> None:
    """Limits how long a transaction may be idle: a stopped server must not block the others.

    The type Any is psycopg's, which need not be installed.
    """
    # A rollback undoes SET, and the pool rolls back each connection that is returned to it.
    before, connection.autocommit = connection.autocommit, True
    connection.execute(f"SET idle_in_transaction_session_timeout = '{MOST_IDLE_S}s'")
    connection.autocommit = before


def _make_sqlite(url: URL, lock_timeout_s: float) -> Engine:
    _make_private_file(Path(str(url.database)))
    # None: the sqlite3 module begins no transactions by itself, as `_begin` does that.
    arguments = {"timeout": lock_timeout_s, "isolation_level": None}
    # The one used last has what it wrote in its memory still; another would read it again.
    engine = create_engine(
        url, pool_size=10, max_overflow=20, pool_use_lifo=True, connect_args=arguments
    )
    event.listen(engine, "connect", _set_up)
    event.listen(engine, "begin", _begin)
    return engine


def _make_private_file(path: Path) -> None:
    """Creates the file for its owner alone, as jobs may hold secrets.

    SQLite gives its other files the same rights.
    """
    with suppress(OSError):  # SQLite will meet the same obstacle, and say so
        path.touch(mode=0o600)


def _set_up(connection: sqlite3.Connection, _record: Any) -> None:
    """Configures a connection so that each commit is on disk before it is acknowledged.

    This is ``synchronous = FULL``. NORMAL would protect against the death of this process, because
    the kernel has the write-ahead log by then. It would not protect against a power cut, which
    would lose more than a record: supervisors on other machines continue, and an attempt whose
    start was forgotten could be started twice. Jobs change a few times a minute, so one flush for
    each change is cheap.
    """
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _begin(connection: Connection) -> None:
    """Begins a transaction without SQLAlchemy, which takes ten times as long."""
    statement = connection.get_execution_options().get(BEGIN, "BEGIN")
    driver: Any = connection.connection.driver_connection
    if statement:
        try:
            driver.execute(statement)
        except driver.OperationalError as error:
            raise OperationalError(statement, None, error) from error
