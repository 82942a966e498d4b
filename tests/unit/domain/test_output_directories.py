"""The directory in which the directories of a job lie."""

from __future__ import annotations

import pytest

from footplate.domain.output_directories import common_directory


@pytest.mark.parametrize(
    ("uris", "common"),
    [
        ([], ""),
        (["gs://b/run/"], "gs://b/run"),
        (["gs://b/run/model/", "gs://b/run/logs/"], "gs://b/run"),
        (["gs://b/run", "gs://b/running"], "gs://b"),
        (["/mnt/run", "gs://b/run"], ""),
    ],
)
def test_common_directory(uris: list[str], common: str) -> None:
    assert common_directory(uris) == common
