"""How long a program has shown no sign of life."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.replica.usage import sampler
from footplate.replica.usage.sampler import IdleTracker, find_stamps

LONG_AGO = 1_000_000.0


class Clock:
    def __init__(self, now: float) -> None:
        self.time = now

    def now(self) -> float:
        return self.time


class World:
    """A silence that began at once, of which files speak after 60 s."""

    def __init__(self, folder: Path, look_s: float = 60.0) -> None:
        self.work = folder / "work"
        (self.work / "deep").mkdir(parents=True)
        self.file = self.work / "deep" / "model.ckpt"
        self.file.touch()
        self.metrics = folder / "output.metrics"
        self.wall = Clock(self.file.stat().st_ctime + LONG_AGO)
        self.monotonic = Clock(500.0)
        places = [str(self.work), str(folder / "gone")]
        self.silence = IdleTracker(
            str(self.metrics), places, look_s, self.monotonic.now, self.wall.now
        )

    def pass_(self, seconds: float) -> None:
        self.monotonic.time += seconds
        self.wall.time += seconds

    def write(self, ago_s: float) -> None:
        """The kernel's own time of a change can't be set: the clock is moved, too."""
        self.file.write_text(str(ago_s))
        self.wall.time = self.file.stat().st_ctime + ago_s


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_it_lasts_until_something_is_printed(world: World) -> None:
    world.pass_(30)
    assert world.silence.seconds() == 30
    world.silence.end()
    world.pass_(12)
    assert world.silence.seconds() == 12


def test_a_report_of_a_metric_ends_it(world: World) -> None:
    world.pass_(30)
    world.metrics.write_text("x" * 512)
    assert world.silence.seconds() == 0
    world.pass_(5)
    assert world.silence.seconds() == 5
    world.metrics.write_text("x" * 1024)
    assert world.silence.seconds() == 0


def test_files_are_asked_only_after_a_while(world: World) -> None:
    world.pass_(59)
    world.write(ago_s=2)
    assert world.silence.seconds() == 59
    world.pass_(1)
    assert world.silence.seconds() == pytest.approx(3), "something was written 3 s ago"
    world.pass_(10)
    assert world.silence.seconds() == pytest.approx(13)


def test_what_was_written_before_does_not_count(world: World) -> None:
    world.pass_(70)
    world.write(ago_s=75)
    assert world.silence.seconds() == 70


def test_what_is_dated_in_the_future_does_not_count(world: World) -> None:
    world.pass_(70)
    future = world.wall.time + 9000
    os.utime(world.file, (future, future))
    assert world.silence.seconds() == 70


def test_without_a_watch_files_are_never_asked(tmp_path: Path) -> None:
    world = World(tmp_path, look_s=0.0)
    world.pass_(10_000)
    world.write(ago_s=1)
    assert world.silence.seconds() == 10_000


def test_a_tree_without_end_is_looked_at_in_part(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"file{number}").touch()
    (tmp_path / "loop").symlink_to(tmp_path)
    assert len(list(find_stamps([str(tmp_path)], 1000))) == 21
    assert len(list(find_stamps([str(tmp_path)], 7))) == 7
    assert sampler.MOST_ENTRIES >= 1000
