"""The contract of buckets, over each kind of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.buckets.bindings import BucketBinding
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.server.clock import SystemClock
from tests.support.buckets_contract import BUCKET, BucketsContract, ObjectsContract


class TestFolderBuckets(BucketsContract):
    @pytest.fixture
    def buckets(self, tmp_path: Path) -> Iterator[FolderBuckets]:
        made = FolderBuckets(tmp_path / "buckets", SystemClock())
        yield made
        made.close()


class TestBoundFolder(ObjectsContract):
    @pytest.fixture
    def buckets(self, tmp_path: Path) -> Iterator[FolderBuckets]:
        (tmp_path / "elsewhere").mkdir()
        bindings = (BucketBinding(BUCKET, str(tmp_path / "elsewhere")),)
        made = FolderBuckets(tmp_path / "buckets", SystemClock(), bindings=bindings)
        yield made
        made.close()
