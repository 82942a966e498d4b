"""Buckets that two servers serve."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import Aborted, FailedPrecondition
from footplate.ports.object_storage import Checksums, Conditions, Draft

BUCKET = "stage"
WRITERS = 8


class Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


@pytest.fixture
def one(tmp_path: Path) -> Iterator[FolderBuckets]:
    with closing(FolderBuckets(tmp_path, Clock())) as buckets:
        buckets.create_bucket(BUCKET)
        yield buckets


@pytest.fixture
def other(tmp_path: Path, one: FolderBuckets) -> Iterator[FolderBuckets]:
    with closing(FolderBuckets(tmp_path, Clock())) as buckets:
        yield buckets


def read(buckets: FolderBuckets, name: str) -> bytes:
    with buckets.read(BUCKET, name) as file:
        return file.read()


def test_a_server_that_starts_leaves_what_another_is_writing(
    tmp_path: Path, one: FolderBuckets
) -> None:
    def chunks() -> Iterator[bytes]:
        yield b"first "
        FolderBuckets(tmp_path, Clock()).close()
        yield b"second"

    one.write(BUCKET, "object", chunks())
    assert read(one, "object") == b"first second"
    staging = tmp_path / ".footplate" / "staging"
    (staging / "left").write_bytes(b"by one that was killed")
    FolderBuckets(tmp_path, Clock()).close()
    assert list(staging.iterdir()) == []


def test_of_many_who_may_make_an_object_one_does(one: FolderBuckets, other: FolderBuckets) -> None:
    start = threading.Barrier(WRITERS)
    made: list[int] = []

    def make(number: int) -> None:
        start.wait()
        buckets = (one, other)[number % 2]
        try:
            buckets.write(BUCKET, "object", [b"%d" % number], if_generation=0)
        except FailedPrecondition:
            return
        made.append(number)

    threads = [threading.Thread(target=make, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert read(one, "object") == read(other, "object") == b"%d" % made[0]
    found = one.stat(BUCKET, "object")
    assert found.generation == other.stat(BUCKET, "object").generation
    with pytest.raises(FailedPrecondition):
        other.remove(BUCKET, "object", Conditions(generation=found.generation + 1))


def test_an_upload_goes_on_at_another_server(one: FolderBuckets, other: FolderBuckets) -> None:
    upload = one.begin_upload(Draft(BUCKET, "object", "text/plain"))
    assert one.append(upload, 0, [b"one "]) == 4
    assert other.append(upload, 4, [b"two "]) == 8
    assert one.append(upload, 4, [b"two ", b"three"]) == 13
    assert other.finish_upload(upload, Checksums()).size_bytes == 13
    assert one.upload(upload).result == other.stat(BUCKET, "object")
    assert read(one, "object") == b"one two three"


def test_two_servers_dont_add_to_one_upload_at_once(
    one: FolderBuckets, other: FolderBuckets
) -> None:
    upload = one.begin_upload(Draft(BUCKET, "object", "text/plain"))

    def chunks() -> Iterator[bytes]:
        yield b"first "
        with pytest.raises(Aborted, match="another request"):
            other.append(upload, 0, [b"other"])
        with pytest.raises(Aborted, match="another request"):
            other.abandon_upload(upload)
        yield b"second"

    one.append(upload, 0, chunks())
    one.finish_upload(upload, Checksums())
    assert read(other, "object") == b"first second"
