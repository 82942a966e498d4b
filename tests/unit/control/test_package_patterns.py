"""Packages in buckets are looked into once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from footplate.buckets.folder_buckets import FolderBuckets
from footplate.control.package_patterns import PackagePatterns
from footplate.domain.preview.source_patterns import Pattern, Use
from tests.support.clock import FakeClock

URI = "gs://stage/pkg/trainer.tar.gz"
FOUND = (Use(Pattern.ESTIMATOR, "task.py:2"),)
ESTIMATOR = b"import tensorflow as tf\ntf.estimator\n"


@pytest.fixture
def buckets(tmp_path: Path) -> FolderBuckets:
    buckets = FolderBuckets(tmp_path / "buckets", FakeClock())
    buckets.create_bucket("stage")
    buckets.write("stage", "pkg/trainer.tar.gz", [ESTIMATOR])
    return buckets


def test_they_are_read_once_and_again_when_they_are_replaced(buckets: FolderBuckets) -> None:
    reads = []

    def read(file: BinaryIO) -> dict[str, str]:
        reads.append(file)
        return {"task.py": file.read().decode()}

    patterns = PackagePatterns(buckets, read)
    assert [patterns.find(URI) for _ in range(3)] == [FOUND] * 3
    assert len(reads) == 1
    assert reads[0].closed
    buckets.write("stage", "pkg/trainer.tar.gz", [b"print()"])
    assert patterns.find(URI) == ()


@pytest.mark.parametrize("uri", ["gs://stage/no", "gs://no/t", "/tmp/t", "gs://stage/../t"])
def test_nothing_is_known_of_what_is_not_there(buckets: FolderBuckets, uri: str) -> None:
    assert PackagePatterns(buckets, lambda _: {"task.py": ESTIMATOR.decode()}).find(uri) == ()


def test_a_package_that_can_not_be_read_now_is_read_later(buckets: FolderBuckets) -> None:
    answers: Iterator[OSError | dict[str, str]] = iter(
        [OSError("disk"), {"task.py": ESTIMATOR.decode()}]
    )

    def read(_file: BinaryIO) -> dict[str, str]:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    patterns = PackagePatterns(buckets, read)
    assert [patterns.find(URI), patterns.find(URI)] == [(), FOUND]
