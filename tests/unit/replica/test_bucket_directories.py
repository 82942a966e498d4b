"""Which directories of buckets a task stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.replica.bucket_directories import find_bound, find_buckets, find_single

if TYPE_CHECKING:
    from pathlib import Path


def test_a_task_names_single_buckets(tmp_path: Path) -> None:
    top = tmp_path / "buckets"
    for name in ("own", "theirs"):
        (top / name).mkdir(parents=True)
    (top / "link").symlink_to("theirs")
    (top / "file").touch()
    names = ["own", "gone", "link", "file", "../buckets/theirs", ".."]
    task = {"buckets": names}
    paths = find_buckets({"buckets": str(top)}, task)
    assert paths == [str(top / "own")]
    assert find_single(task, paths) == paths


def test_without_names_it_is_the_directory_of_all(tmp_path: Path) -> None:
    paths = find_buckets({"buckets": str(tmp_path)}, {"buckets": None})
    assert paths == [str(tmp_path)]
    assert find_single({}, paths) is None
    assert find_buckets({"buckets": str(tmp_path / "none")}, {}) == []
    assert find_buckets({}, {"buckets": ["own"]}) == []


def test_a_task_may_have_none(tmp_path: Path) -> None:
    assert find_buckets({"buckets": str(tmp_path)}, {"buckets": []}) == []


def test_bound_buckets_are_those_whose_folders_are_there(tmp_path: Path) -> None:
    task = {
        "bound_buckets": [
            {"name": "data", "path": str(tmp_path), "read_only": True},
            {"name": "own", "path": str(tmp_path), "read_only": False},
            {"name": "gone", "path": str(tmp_path / "gone"), "read_only": False},
        ]
    }
    assert find_bound(task) == [(str(tmp_path), "data", True), (str(tmp_path), "own", False)]
    assert find_bound({}) == []
