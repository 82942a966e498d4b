"""Transactions of one database."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING

from footplate.store.errors import translated
from footplate.store.postgres_notify import notify
from footplate.store.sql_engines import NO_TRANSACTION, TO_WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

    from footplate.ports.notifications import NoticeKind


class Transactions:
    """Each ``with`` block is one: committed at its end, undone when it raises.

    Where several servers may use the database, the others are notified of writes as ``server``'s.
    """

    def __init__(
        self,
        engine: Engine,
        server: str = "",
        guard: Callable[[Connection], None] | None = None,
    ) -> None:
        """``guard`` is called first in each transaction that writes, and may refuse it."""
        self._engine = engine
        self._server = server
        self._guard = guard
        self._writer = engine.execution_options(**TO_WRITE)
        self._reader = engine.execution_options(**NO_TRANSACTION)
        self.several = engine.dialect.name == "postgresql"
        level = {"isolation_level": "REPEATABLE READ"} if self.several else {}
        self._snapshots = engine.execution_options(**level)
        # SQLite has one writer at a time, and lets others sleep and retry: threads of this
        # process queue up here instead, and each goes on the moment its turn has come.
        one_by_one = engine.dialect.name == "sqlite"
        self._turn: AbstractContextManager[object] = Lock() if one_by_one else nullcontext()

    def guarded(self, guard: Callable[[Connection], None]) -> Transactions:
        """The same with a guard; only where there may be several servers."""
        return Transactions(self._engine, self._server, guard)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yields a connection for queries; each of them sees the database as it is then."""
        with translated(self._engine.url), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Yields a connection for several queries that all see the database as the first did."""
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
