"""One contract, three stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.ports.store import Store
from footplate.store import open_store
from footplate.testing.filter_contract import FilterContract
from footplate.testing.postgresql import Postgresql
from footplate.testing.store import MemoryStore
from footplate.testing.store_contract import ConcurrencyContract, PagingContract, StoreContract


class WholeContract(StoreContract, PagingContract, FilterContract, ConcurrencyContract):
    pass


class TestMemoryStore(WholeContract):
    @pytest.fixture
    def store(self) -> Store:
        return MemoryStore()


class TestSqlite(WholeContract):
    @pytest.fixture
    def store(self, tmp_path: Path) -> Iterator[Store]:
        store = open_store(f"sqlite:///{tmp_path}/footplate.db")
        yield store
        store.close()


class TestPostgresql(WholeContract):
    @pytest.fixture
    def store(self, postgresql: Postgresql) -> Iterator[Store]:
        store = open_store(postgresql.create_database())
        yield store
        store.close()
