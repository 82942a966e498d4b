"""What a program's own files take on the disk, and when that is too much."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from footplate.replica import disk_limit
from footplate.replica.disk_limit import INTERVAL_S, DiskLimit, count_bytes, used_of_disks
from footplate.replica.isolation.resource_limits import Limits
from footplate.replica.phase import NEVER
from footplate.replica.program_phases import describe_disk

MB = 1 << 20


def write(path: Path, size: int = MB) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    return path


def count(*paths: Path, pids: tuple[int, ...] = ()) -> int:
    """In MB; directories and the last blocks of files take some KB."""
    return round(count_bytes([str(path) for path in paths], pids) / MB)


def test_files_of_all_directories_count(tmp_path: Path) -> None:
    write(tmp_path / "work" / "a" / "b" / "model")
    write(tmp_path / "work" / "log")
    write(tmp_path / "tmp" / "cache")
    write(tmp_path / "other")
    assert count(tmp_path / "work", tmp_path / "tmp", tmp_path / "nowhere") == 3


def test_a_file_with_several_names_counts_once(tmp_path: Path) -> None:
    model = write(tmp_path / "work" / "model")
    for number in range(5):
        os.link(model, tmp_path / "work" / str(number))
    assert count(tmp_path / "work") == 1


def test_links_lead_nowhere(tmp_path: Path) -> None:
    write(tmp_path / "outside" / "model")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "directory").symlink_to(tmp_path / "outside")
    (tmp_path / "work" / "file").symlink_to(tmp_path / "outside" / "model")
    (tmp_path / "work" / "above").symlink_to("..")
    assert count(tmp_path / "work") == 0
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    assert count(tmp_path / "link") == 0


def test_a_hole_takes_nothing(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(100 * MB)
    assert count(tmp_path) == 0


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")  # noqa: PTH112
def test_deleted_files_that_are_open_count(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    with (tmp_path / "work" / "gone").open("wb", buffering=0) as file:
        file.write(b"x" * MB)
        (tmp_path / "work" / "gone").unlink()
        holder = subprocess.Popen(
            ("sleep", "600"),
            pass_fds=(file.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    with holder:
        try:
            assert count(tmp_path / "work", pids=(holder.pid,)) == 1
            assert count(tmp_path / "work") == 0
        finally:
            holder.kill()


def test_names_of_a_deep_tree_are_followed(tmp_path: Path) -> None:
    place = tmp_path
    for _ in range(100):
        place = place / "d"
    write(place / "model")
    assert count(tmp_path) == 1


def test_a_walk_that_takes_too_long_tells_what_it_has_seen(tmp_path: Path) -> None:
    for number in range(10):
        write(tmp_path / str(number))
    left = iter([True] * 6)
    seen = count_bytes([str(tmp_path)], (), lambda: next(left, False))
    assert MB <= seen < 10 * MB


def test_the_disk_as_a_whole_holds_more(tmp_path: Path) -> None:
    write(tmp_path / "model")
    assert used_of_disks([str(tmp_path), str(tmp_path / "model")]) >= MB
    assert used_of_disks([str(tmp_path / "nowhere")]) == 0


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


def measure(limit: DiskLimit, clock: Clock) -> None:
    """Until the walk has told."""
    clock.now = limit.deadline()
    limit.advance()
    while limit.streams:
        select.select(limit.streams, [], [], 60)
        for stream in limit.streams:
            stream.read()
    while limit._walk is not None:
        limit.advance()


def test_it_is_measured_again_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_limit, "used_of_disks", lambda _: 1 << 60)
    clock = Clock()
    limit = DiskLimit([str(tmp_path)], 2 * MB, list, clock.monotonic)
    assert limit.deadline() == INTERVAL_S
    measure(limit, clock)
    assert (limit.exceeded, limit.used_bytes < MB) == (False, True)
    write(tmp_path / "model", 3 * MB)
    measure(limit, clock)
    assert limit.exceeded
    assert limit.used_bytes >= 3 * MB
    limit.close()


def test_no_walk_is_begun_on_a_disk_that_holds_less(tmp_path: Path) -> None:
    clock = Clock()
    total = shutil.disk_usage(tmp_path).total
    limit = DiskLimit([str(tmp_path)], total + 1, list, clock.monotonic)
    clock.now = limit.deadline()
    limit.advance()
    assert not limit.streams
    assert limit.deadline() == 2 * INTERVAL_S


def test_without_a_limit_nothing_is_measured(tmp_path: Path) -> None:
    limit = DiskLimit([str(tmp_path)], 0, list, Clock().monotonic)
    assert limit.deadline() == NEVER
    limit.advance()
    assert not limit.exceeded
    limit.close()


@pytest.mark.parametrize(
    ("used_bytes", "words"),
    [((101 << 30), "101 GB"), ((100 << 30) + 1, "100.01 GB"), ((305 << 30) // 2, "152.5 GB")],
)
def test_the_end_names_the_limit(used_bytes: int, words: str) -> None:
    limits = Limits("n1-standard-4", 15 << 30, 4, 100 << 30)
    assert describe_disk(used_bytes, limits) == (
        f"the program used {words} of disk; its limit, bootDiskSizeGb, is 100 GB"
    )
