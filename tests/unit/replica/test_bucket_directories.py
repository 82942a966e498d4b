"""Which directories of buckets a task stands for."""

from __future__ import annotations

from pathlib import Path

from footplate.protocol.task import BoundBucket
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.bucket_directories import find_bound, find_buckets, find_single
from tests.support.replica_context import make_task


def test_a_task_names_single_buckets(tmp_path: Path) -> None:
    top = tmp_path / "buckets"
    for name in ("own", "theirs"):
        (top / name).mkdir(parents=True)
    (top / "link").symlink_to("theirs")
    (top / "file").touch()
    names = ["own", "gone", "link", "file", "../buckets/theirs", ".."]
    paths = find_buckets(SupervisorTicket(buckets=str(top)), names)
    assert paths == [str(top / "own")]
    assert find_single(make_task(buckets=tuple(names)), paths) == paths


def test_without_names_it_is_the_directory_of_all(tmp_path: Path) -> None:
    paths = find_buckets(SupervisorTicket(buckets=str(tmp_path)), None)
    assert paths == [str(tmp_path)]
    assert find_single(make_task(), paths) is None
    assert find_buckets(SupervisorTicket(buckets=str(tmp_path / "none")), None) == []
    assert find_buckets(SupervisorTicket(), ["own"]) == []


def test_a_task_may_have_none(tmp_path: Path) -> None:
    assert find_buckets(SupervisorTicket(buckets=str(tmp_path)), []) == []


def test_bound_buckets_are_those_whose_folders_are_there(tmp_path: Path) -> None:
    bound = (
        BoundBucket("data", str(tmp_path), read_only=True),
        BoundBucket("own", str(tmp_path)),
        BoundBucket("gone", str(tmp_path / "gone")),
    )
    task = make_task(bound_buckets=bound)
    assert find_bound(task) == [(str(tmp_path), "data", True), (str(tmp_path), "own", False)]
    assert find_bound(make_task()) == []
