"""One contract, three stores of log uploads."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.domain.names import JobUid
from footplate.domain.tracking.log_uploads import FilePosition, LogUpload
from footplate.ports.log_uploads import LogUploadStore
from footplate.store import open_store
from tests.support.log_uploads import MemoryLogUploads
from tests.support.postgresql import Postgresql

FIRST = LogUpload(
    JobUid("a"),
    "projects/demo/locations/us-central1/tensorboards/1/experiments/7",
    "gs://b/logs/",
    "3",
    {"/x/ü": FilePosition("1:2", 30), "/y": FilePosition("1:3", 4, ended=True)},
)
SECOND = LogUpload(JobUid("b"), FIRST.experiment, "/logs/")


class LogUploadContract:
    def test_what_was_put_comes_back_until_it_is_deleted(self, uploads: LogUploadStore) -> None:
        assert uploads.all() == ()
        uploads.put(SECOND)
        uploads.put(FIRST)
        assert uploads.all() == (FIRST, SECOND)
        further = replace(SECOND, positions={"/z": FilePosition("1:9", 1)})
        uploads.put(further)
        assert uploads.all() == (FIRST, further)
        uploads.delete(FIRST.uid)
        uploads.delete(FIRST.uid)
        assert uploads.all() == (further,)


class TestMemory(LogUploadContract):
    @pytest.fixture
    def uploads(self) -> LogUploadStore:
        return MemoryLogUploads()


class SqlUploadContract(LogUploadContract):
    @pytest.fixture
    def uploads(self, url: str) -> Iterator[LogUploadStore]:
        with closing(open_store(url)) as store:
            yield store.log_uploads


class TestSqlite(SqlUploadContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/footplate.db"


class TestPostgresql(SqlUploadContract):
    @pytest.fixture
    def url(self, postgresql: Postgresql) -> str:
        return postgresql.create_database()
