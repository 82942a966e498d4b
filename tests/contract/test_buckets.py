"""The contract of buckets, over each kind of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.server.clock import SystemClock
from tests.support.buckets_contract import BucketsContract


class TestFolderBuckets(BucketsContract):
    @pytest.fixture
    def buckets(self, tmp_path: Path) -> Iterator[FolderBuckets]:
        made = FolderBuckets(tmp_path / "buckets", SystemClock())
        yield made
        made.close()
