"""Packages are known by their bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import BinaryIO

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control import package_digests
from footplate.control.package_digests import PackageDigests
from footplate.domain.errors import NotFound
from tests.support.clock import FakeClock

URI = "gs://stage/pkg/trainer.tar.gz"


class Counted(FolderBuckets):
    """Counts what is read, and lets a test change an object while it is."""

    reads = 0
    meanwhile: bytes | None = None

    def read(self, bucket: str, name: str) -> BinaryIO:
        self.reads += 1
        file = super().read(bucket, name)
        if self.meanwhile is not None:
            self.write(bucket, name, [self.meanwhile])
        return file


@pytest.fixture
def buckets(tmp_path: Path) -> Counted:
    buckets = Counted(tmp_path / "buckets", FakeClock())
    buckets.create_bucket("stage")
    buckets.write("stage", "pkg/trainer.tar.gz", [b"one", b"two"])
    return buckets


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_they_are_read_once_and_again_when_they_are_replaced(buckets: Counted) -> None:
    found = PackageDigests(buckets)
    assert [found.sha256(URI) for _ in range(3)] == [sha256(b"onetwo")] * 3
    assert buckets.reads == 1
    buckets.write("stage", "pkg/trainer.tar.gz", [b"three"])
    assert found.sha256(URI) == sha256(b"three")


def test_one_that_changes_meanwhile_is_not_known(buckets: Counted) -> None:
    found = PackageDigests(buckets)
    buckets.meanwhile = b"other"
    assert found.sha256(URI) == ""
    buckets.meanwhile = None
    assert found.sha256(URI) == sha256(b"other")


def test_a_large_one_is_not_read(buckets: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_digests, "MOST_BYTES", 5)
    assert PackageDigests(buckets).sha256(URI) == ""
    assert buckets.reads == 0


def test_a_missing_one_is_named(buckets: Counted) -> None:
    with pytest.raises(NotFound, match="nothing"):
        PackageDigests(buckets).sha256("gs://stage/nothing.tar.gz")


def test_few_are_remembered(buckets: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_digests, "_MOST_REMEMBERED", 1)
    buckets.write("stage", "other.tar.gz", [b"other"])
    found = PackageDigests(buckets)
    for uri in (URI, "gs://stage/other.tar.gz", "gs://stage/other.tar.gz", URI):
        assert found.sha256(uri)
    assert buckets.reads == 3
