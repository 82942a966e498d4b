from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.server.clock import SystemClock


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "buckets"


@pytest.fixture
def buckets(root: Path) -> Iterator[FolderBuckets]:
    made = FolderBuckets(root, SystemClock())
    made.create_bucket("stage")
    yield made
    made.close()


@pytest.fixture
def folder(buckets: FolderBuckets, root: Path) -> Path:
    """Where programs find the bucket ``stage``."""
    assert buckets.bucket("stage").name == "stage"
    return root / "stage"
