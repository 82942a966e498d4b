"""Preallocates SQLite's files, so that a full disk does not stop the next writes.

What is freed on a full disk is anybody's, and a program that fills it is quicker than we are. So
nothing is freed: the write-ahead log is as long from the beginning as it becomes, and the
database has pages that nothing uses. Writes go there, and checkpoints find their places.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.store.sql_engines import NO_TRANSACTION
from footplate.store.transactions import Transactions

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

LOG_BYTES = 6 << 20
"""SQLite begins it anew when 1000 pages are in it, 4 MiB: so much, and some for slow readers."""
SPARE_BYTES = 1 << 20
"""Pages of the database that nothing uses; made up when half of them are in use."""
_TABLE = "footplate_room"
_HEADER_BYTES = 32
"""Of the log; without it nothing that follows is taken for a part of one."""
_INDEX_BYTES = 32768
"""Of the log's index, up to 4000 pages."""


def keep_room(engine: Engine, transactions: Transactions) -> None:
    """Allocates the space that is missing; does nothing if none is.

    Raises:
        OSError, Unavailable: the disk doesn't have that much space.
    """
    with transactions.writing():  # no other process writes the log
        _fill_index(f"{engine.url.database}-shm")
        _lengthen(f"{engine.url.database}-wal")
    with transactions.reading() as connection:
        missing_bytes = SPARE_BYTES - _spare_bytes(connection)
    if missing_bytes > SPARE_BYTES // 2:
        _make_spare(engine, transactions, missing_bytes)


@contextmanager
def kept_log(engine: Engine) -> Iterator[None]:
    """Context manager that keeps the log's space while the engine's last connection is closed.

    SQLite then removes the log, whose content is in the database; an empty one of the same size
    replaces it.
    """
    log = Path(f"{engine.url.database}-wal")
    kept = log.with_name(f"{log.name}.kept")
    with suppress(OSError):  # SQLite makes a log of its own
        kept.unlink(missing_ok=True)
        if log.stat().st_size >= LOG_BYTES:
            kept.hardlink_to(log)
    try:
        yield
    finally:
        with suppress(OSError):  # SQLite makes a log of its own
            _put_back(kept, log)


def _put_back(kept: Path, log: Path) -> None:
    if not log.exists():  # or it is still in use
        # The header is erased, and that is on the disk, before the file gets the name of the log.
        # SQLite replays a log with a valid header when it opens the database. The pages in this
        # one are old: the database has them, and may have newer ones by the time of a crash.
        with kept.open("r+b", buffering=0) as file:
            file.write(bytes(_HEADER_BYTES))
            os.fsync(file.fileno())
        log.hardlink_to(kept)
    kept.unlink()


def _fill_index(path: str) -> None:
    """Allocates the index's pages: on a full disk a missing page kills the process.

    SQLite prevents that for blocks of 4 KiB. Only SQLite's own descriptor may be used: closing
    another one of the same file would release its locks.
    """
    if sys.platform != "linux":
        return
    path = os.path.realpath(path)
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile, or is that of the listing
            if str(link.readlink()) == path:
                os.posix_fallocate(int(link.name), 0, _INDEX_BYTES)
                return


def _lengthen(path: str) -> None:
    """Lengthens the log with zeros, which SQLite doesn't count as part of it."""
    if sys.platform != "linux":
        return
    descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        if os.fstat(descriptor).st_size < LOG_BYTES:
            os.posix_fallocate(descriptor, 0, LOG_BYTES)
    finally:
        os.close(descriptor)


def _spare_bytes(connection: Connection) -> int:
    free = int(connection.exec_driver_sql("PRAGMA freelist_count").scalar_one())
    return free * int(connection.exec_driver_sql("PRAGMA page_size").scalar_one())


def _make_spare(engine: Engine, transactions: Transactions, size_bytes: int) -> None:
    """Writes, checkpoints and frees pages, whose space on the disk then stays reserved."""
    with transactions.writing() as connection:
        connection.exec_driver_sql(f"DROP TABLE IF EXISTS {_TABLE}")  # of one that died here
        connection.exec_driver_sql(f"CREATE TABLE {_TABLE} (room BLOB)")
        room = f"INSERT INTO {_TABLE} VALUES (zeroblob({size_bytes}))"  # noqa: S608  ours both
        connection.exec_driver_sql(room)
    with engine.connect().execution_options(**NO_TRANSACTION) as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")
    with transactions.writing() as connection:
        connection.exec_driver_sql(f"DROP TABLE {_TABLE}")
