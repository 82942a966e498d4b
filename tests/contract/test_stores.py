"""One contract, three stores."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.domain.names import JobUid
from footplate.ports.store import Store
from footplate.store import ObservedStore, open_store
from tests.support.filter_contract import FilterContract
from tests.support.postgresql import Postgresql
from tests.support.run_contract import RunContract
from tests.support.store import MemoryStore
from tests.support.store_contract import (
    ConcurrencyContract,
    PagingContract,
    StoreContract,
)


class WholeContract(
    StoreContract, RunContract, PagingContract, FilterContract, ConcurrencyContract
):
    pass


class TestMemoryStore(WholeContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()

    @pytest.fixture
    def elsewhere(self, store: Store) -> Store:
        return store


class TestTellingStore(WholeContract):
    """A listener hears of every job that was written to."""

    @pytest.fixture
    def store(self) -> Iterator[Store]:
        inner, told = MemoryStore(), set[JobUid]()
        store = ObservedStore(inner, lambda uid, _: told.add(uid), told.add)
        yield store
        assert {job.uid for job in inner.active()} <= told

    @pytest.fixture
    def elsewhere(self, store: Store) -> Store:
        return store


class SqlContract(WholeContract):
    @pytest.fixture
    def store(self, url: str) -> Iterator[Store]:
        with closing(open_store(url)) as store:
            yield store

    @pytest.fixture
    def elsewhere(self, url: str, store: Store) -> Iterator[Store]:
        with closing(open_store(url)) as elsewhere:
            yield elsewhere


class TestSqlite(SqlContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/footplate.db"


class TestPostgresql(SqlContract):
    @pytest.fixture
    def url(self, postgresql: Postgresql) -> str:
        return postgresql.create_database()
