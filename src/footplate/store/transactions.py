"""Transactions on one database, for all that keeps something in it."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import TYPE_CHECKING

from footplate.store.engines import TO_WRITE
from footplate.store.faults import translated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine


class Transactions:
    """Each ``with`` block is one: committed at its end, undone when it raises."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = engine.execution_options(**TO_WRITE)
        several = engine.dialect.name == "postgresql"
        level = {"isolation_level": "REPEATABLE READ"} if several else {}
        self._snapshots = engine.execution_options(**level)
        # SQLite has one writer at a time, and lets others sleep and retry: threads of this
        # process queue up here instead, and each goes on the moment its turn has come.
        one_by_one = engine.dialect.name == "sqlite"
        self._turn: AbstractContextManager[object] = Lock() if one_by_one else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        with translated(self._engine.url), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """For several queries: each sees the database as the first one did."""
        with translated(self._engine.url), self._snapshots.begin() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        with translated(self._writer.url), self._turn, self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        self._engine.dispose()
