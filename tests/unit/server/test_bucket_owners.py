"""Buckets of before, and the setting that gives them to projects."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import InvalidArgument
from footplate.server.clock import SystemClock
from footplate.server.service import assign_buckets


@pytest.fixture
def buckets(tmp_path: Path) -> Iterator[FolderBuckets]:
    """``old`` is of a version that kept no projects, ``bare`` a directory, ``own`` is demo's."""
    root = tmp_path / "buckets"
    (root / ".footplate").mkdir(parents=True)
    for name in ("old", "bare"):
        (root / name).mkdir()
    with closing(sqlite3.connect(root / ".footplate" / "objects.db")) as database:
        database.execute(
            "CREATE TABLE buckets (name TEXT PRIMARY KEY, created_us INTEGER, location TEXT) "
            "WITHOUT ROWID"
        )
        database.execute("INSERT INTO buckets VALUES ('old', 1000000, 'EU')")
        database.commit()
    made = FolderBuckets(root, SystemClock())
    made.create_bucket("own", project="demo")
    yield made
    made.close()


def test_a_line_names_those_without_a_project_and_the_way_out(
    buckets: FolderBuckets, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assign_buckets(buckets, (), ())
    (message,) = caplog.messages
    assert "belong to no project: bare, old." in message
    assert "bucket_projects" in message
    assert buckets.bucket("old").project is None
    assert buckets.bucket("old").location == "EU"


def test_the_setting_gives_them_away_for_good(
    buckets: FolderBuckets, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assign_buckets(buckets, (("old", "ads"), ("bare", "ads"), ("own", "ops")), ())
        assign_buckets(buckets, (), ())
    assert caplog.messages == []
    found = {bucket.name: bucket.project for bucket in buckets.buckets()}
    assert found == {"old": "ads", "bare": "ads", "own": "ops"}
    assert buckets.bucket("old").location == "EU"


def test_nothing_is_said_where_all_are_shared(
    buckets: FolderBuckets, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assign_buckets(buckets, (), ("*",))
    assert caplog.messages == []


@pytest.mark.parametrize("name", ["none", "../own", ".footplate"])
def test_a_bucket_that_is_missing_is_named(buckets: FolderBuckets, name: str) -> None:
    with pytest.raises(InvalidArgument, match="bucket_projects"):
        assign_buckets(buckets, ((name, "ads"),), ())
