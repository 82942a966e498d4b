"""One contract, three stores of models."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.ports.models import ModelStore
from footplate.store import open_store
from tests.support.models import MemoryModels
from tests.support.models_contract import ModelContract
from tests.support.postgresql import Postgresql


class TestMemoryModels(ModelContract):
    @pytest.fixture
    def models(self) -> ModelStore:
        return MemoryModels()


class SqlModelContract(ModelContract):
    @pytest.fixture
    def models(self, url: str) -> Iterator[ModelStore]:
        with closing(open_store(url)) as store:
            yield store.models


class TestSqlite(SqlModelContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/footplate.db"


class TestPostgresql(SqlModelContract):
    @pytest.fixture
    def url(self, postgresql: Postgresql) -> str:
        return postgresql.create_database()
