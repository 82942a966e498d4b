"""A data directory whose database is gone, empty or damaged is refused with the way out."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import DataLoss, FailedPrecondition, InvalidArgument
from footplate.server.data_dir import SQLITE, DataDir
from footplate.store import open_store
from tests.support.clock import FakeClock
from tests.support.jobs import make_job


@pytest.fixture
def used(tmp_path: Path) -> DataDir:
    """A directory that a server has used with SQLite, and left in order."""
    data_dir = DataDir(tmp_path / "data")
    data_dir.make()
    identity = data_dir.identity()
    assert data_dir.describe_loss() == ""
    start(data_dir)
    data_dir.settle(identity, SQLITE)
    return data_dir


def start(data_dir: DataDir) -> None:
    """What a server does first."""
    data_dir.make()
    url = f"sqlite:///{data_dir.database_file}"
    with closing(open_store(url, sole=True, lost=data_dir.describe_loss())) as store:
        if not store.counts():
            for number in range(200):
                store.create(make_job(f"projects/p/jobs/j{number}", uid=f"u{number}"), ())


def damage(path: Path) -> None:
    with path.open("r+b") as file:
        for offset in range(4096 * 3, path.stat().st_size - 100, 8192):
            file.seek(offset)
            file.write(os.urandom(60))


EMPTY_DATABASE = b"SQLite format 3\0" + bytes.fromhex("1000 0202 00 40 20 20") + bytes(4072)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: path.unlink(),
    "empty": lambda path: os.truncate(path, 0),
    "only the pages before the first checkpoint": lambda path: path.write_bytes(EMPTY_DATABASE),
    "text": lambda path: path.write_text("hello " * 1000),
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "overwritten": damage,
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_lost_or_damaged_database_is_refused(used: DataDir, how: str) -> None:
    DAMAGES[how](used.database_file)
    for _ in range(2):  # the refusal makes nothing that the next start takes for a database
        with pytest.raises((FailedPrecondition, DataLoss), match="footplate restore"):
            start(used)


def test_a_directory_with_logs_but_no_identity_is_used(used: DataDir) -> None:
    used.database_file.unlink()
    (used.root / "identity.json").unlink()
    assert used.describe_loss() == ""
    (used.logs / "u1.jsonl").touch()
    assert "is missing or empty" in used.describe_loss()


def test_one_that_belongs_to_postgresql_is_refused_for_that(used: DataDir) -> None:
    used.settle(used.identity(), "database-1")
    (used.logs / "u1.jsonl").touch()
    assert used.describe_loss() == ""
    used.check_jobs(set())


def test_logs_of_jobs_that_the_database_has_lost_are_told(
    used: DataDir, caplog: pytest.LogCaptureFixture
) -> None:
    (used.logs / "u1.jsonl").touch()
    with closing(open_store(f"sqlite:///{used.database_file}", sole=True)) as store:
        used.check_jobs(store.uids())
        assert caplog.text == ""
        (used.logs / "lost.jsonl").touch()
        used.check_jobs(store.uids())
    assert "1 logs in" in caplog.text
    with pytest.raises(FailedPrecondition, match="has no jobs, but"):
        used.check_jobs(set())


def test_the_first_start_may_have_ended_before_it_made_a_database(tmp_path: Path) -> None:
    data_dir = DataDir(tmp_path / "data")
    data_dir.make()
    data_dir.database_file.touch()
    (data_dir.buckets / "made-by-hand").mkdir()
    start(data_dir)


@pytest.mark.parametrize("name", ["reserve", "audit.jsonl", "clock.json", "identity.json"])
def test_a_folder_in_place_of_a_file_is_refused(used: DataDir, name: str) -> None:
    (used.root / name).unlink(missing_ok=True)
    (used.root / name).mkdir()
    with pytest.raises(InvalidArgument, match="the path is a folder"):
        start(used)


@pytest.mark.parametrize("how", ["gone", "empty", "text", "cut", "overwritten"])
def test_lost_records_of_buckets_are_refused(tmp_path: Path, how: str) -> None:
    with closing(FolderBuckets(tmp_path, FakeClock())) as buckets:
        buckets.create_bucket("stage", project="ads")
        for number in range(40):
            buckets.write("stage", str(number), [], metadata={"long": "x" * 1500})
    DAMAGES[how](tmp_path / ".footplate/objects.db")
    for _ in range(2):
        with pytest.raises(DataLoss, match="bucket_projects"):
            FolderBuckets(tmp_path, FakeClock())
