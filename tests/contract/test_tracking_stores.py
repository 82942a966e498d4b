"""One contract, two stores of metadata and TensorBoards."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.ports.tracking import TrackingStore
from footplate.store import open_store
from tests.support.postgresql import Postgresql
from tests.support.tracking_contract import TrackingContract


class SqlTrackingContract(TrackingContract):
    @pytest.fixture
    def tracking(self, url: str) -> Iterator[TrackingStore]:
        with closing(open_store(url)) as store:
            yield store.tracking


class TestSqlite(SqlTrackingContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/footplate.db"


class TestPostgresql(SqlTrackingContract):
    @pytest.fixture
    def url(self, postgresql: Postgresql) -> str:
        return postgresql.create_database()
