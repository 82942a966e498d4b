"""The contract of buckets, over each kind of them."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from footplate.buckets.folders import FolderBuckets
from footplate.testing.buckets_contract import BucketsContract


class _Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


class TestFolderBuckets(BucketsContract):
    @pytest.fixture
    def buckets(self, tmp_path: Path) -> Iterator[FolderBuckets]:
        made = FolderBuckets(tmp_path / "buckets", _Clock())
        yield made
        made.close()
