"""Transactions of one database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING

from footplate.ports.notifications import NoticeKind
from footplate.store.errors import translated
from footplate.store.postgres_notify import notify
from footplate.store.sql_engines import NO_TRANSACTION, TO_WRITE

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


class Transactions:
    """The transactions of a database: each ``with`` block is one.

    It is committed at the end of the block, and rolled back if the block raises. If several servers
    may use the database, the others are notified of writes by ``server``.
    """

    def __init__(
        self,
        engine: Engine,
        server: str = "",
        guard: Callable[[Connection], None] | None = None,
    ) -> None:
        """Prepares connections; ``guard`` is called first in each write, and may refuse it."""
        self._engine = engine
        self._server = server
        self._guard = guard
        self._writer = engine.execution_options(**TO_WRITE)
        self._reader = engine.execution_options(**NO_TRANSACTION)
        self.several = engine.dialect.name == "postgresql"
        # In SQLite each transaction that reads is a snapshot.
        level = {"isolation_level": "REPEATABLE READ"} if self.several else {}
        self._snapshots = engine.execution_options(**level)
        # SQLite has one writer at a time, and lets others sleep and retry: threads of this
        # process queue up here instead, and each goes on the moment its turn has come.
        one_by_one = engine.dialect.name == "sqlite"
        self._turn: AbstractContextManager[object] = Lock() if one_by_one else nullcontext()

    def guarded(self, guard: Callable[[Connection], None]) -> Transactions:
        """Returns transactions with a guard; only for databases that several servers may use."""
        return Transactions(self._engine, self._server, guard)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yields a connection for queries; each query sees the database's state at its own time."""
        with translated(self._engine.url), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Yields a connection for several queries that all see the state that the first one saw."""
        with translated(self._engine.url), self._snapshots.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with translated(self._writer.url), self._turn, self._writer.begin() as connection:
            if self._guard is not None:
                self._guard(connection)
            yield connection

    def tell(self, connection: Connection, kind: NoticeKind, *keys: str) -> None:
        """Notifies the other servers once the transaction is committed."""
        if self.several:
            notify(connection, self._server, kind, keys or ("",))

    def close(self) -> None:
        self._engine.dispose()
