"""No record of an object outlives the object, or the state of its file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.buckets.object_metadata import Record, Records
from footplate.domain.bucket_locations import DEFAULT_LOCATION

NOW = datetime(2026, 1, 31, tzinfo=UTC)
A, B = (Record(identity, NOW, "text/plain") for identity in ("one", "two"))


@pytest.fixture
def records(tmp_path: Path) -> Iterator[Records]:
    """Two objects in each of two buckets, in their first state."""
    made = Records(tmp_path / "objects.db")
    for bucket in ("stage", "other"):
        made.add_bucket(bucket, NOW, DEFAULT_LOCATION, None)
        for name in ("a", "b"):
            made.prepare(bucket, name, A, NOW)
    yield made
    made.close()


def kept(path: Path) -> set[tuple[str, str, str]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT bucket, name, identity FROM objects").fetchall()
    connection.close()
    return set(rows)


@pytest.mark.parametrize(
    ("change", "gone", "new"),
    [
        (lambda records: records.drop("stage", "a"), {"a"}, set()),
        (lambda records: records.drop_bucket("stage"), {"a", "b"}, set()),
        (lambda records: records.settle("stage", "a", B), {"a"}, {"a"}),
        (lambda records: records.adopt("stage", {"a": B}, NOW), {"a"}, {"a"}),
        (lambda records: records.prepare("stage", "a", B, NOW), set(), {"a"}),
    ],
    ids=["drop", "drop_bucket", "settle", "adopt", "prepare"],
)
def test_what_takes_a_record_away_takes_that_alone(
    records: Records,
    tmp_path: Path,
    change: Callable[[Records], object],
    gone: set[str],
    new: set[str],
) -> None:
    change(records)
    stay = {("stage", name, "one") for name in {"a", "b"} - gone}
    stay |= {("stage", name, "two") for name in new}
    assert kept(tmp_path / "objects.db") == stay | {("other", "a", "one"), ("other", "b", "one")}


def test_a_deleted_bucket_has_no_record(records: Records) -> None:
    records.drop_bucket("stage")
    assert records.bucket("stage") is None
    assert records.bucket("other") == (NOW, DEFAULT_LOCATION, None)


def test_a_generation_is_always_more_than_the_one_before(records: Records) -> None:
    last = records.prepare("stage", "c", A, NOW + timedelta(seconds=1)).generation
    assert last == (NOW + timedelta(seconds=1)).timestamp() * 1_000_000
    assert records.prepare("stage", "d", A, NOW).generation == last + 1


def test_checksums_are_added_to_the_state_that_they_are_of(records: Records) -> None:
    records.add_checksums("stage", {"a": Record("one", NOW, "", crc32c=7)})
    records.add_checksums("stage", {"b": Record("two", NOW, "", crc32c=7)})
    found = {name: records.find("stage", name, "one") for name in ("a", "b")}
    assert {name: record and record.crc32c for name, record in found.items()} == {"a": 7, "b": None}


def test_an_object_that_is_deleted_or_rewritten_leaves_no_record(
    buckets: FolderBuckets, root: Path, folder: Path
) -> None:
    for name in ("deleted", "rewritten", "changed", "directory/"):
        buckets.write("stage", name, [b"x"] if name != "directory/" else [])
    buckets.delete("stage", "deleted")
    buckets.delete("stage", "directory/")
    buckets.write("stage", "rewritten", [b"longer"])
    (folder / "changed").write_bytes(b"by a program")
    buckets.stat("stage", "changed")
    names = sorted(name for _, name, _ in kept(root / ".footplate" / "objects.db"))
    assert names == ["changed", "rewritten"]
