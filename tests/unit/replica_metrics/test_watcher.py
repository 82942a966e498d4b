"""When the program's metrics are looked for, and for how long."""

from __future__ import annotations

from pathlib import Path

import hypertune
import pytest

from footplate.domain.replica_records import EventRecord, MetricRecord, Record, TagsRecord
from footplate.replica.journal import Journal
from footplate.replica.metrics.watcher import MAX_FINAL_SCAN_S, POLL_INTERVAL_S, STAT_S, Watch
from footplate.replica.phase import NEVER
from footplate.replica.spool import Spool
from footplate.replica.workdir import Home
from footplate.wire.replica_v1 import decode_reports
from tests.support.replica_context import make_context, make_task
from tests.unit.replica_metrics.event_writer import event, simple, write

LIMIT_BYTES = 1 << 22
LOOKED_S = 0.001
"""What each question for the time costs here."""


class World:
    """A watch over a home in which there is a program, whose time passes only when asked."""

    def __init__(self, folder: Path) -> None:
        self.now = 100.0
        self.home = Home(str(folder / "home"))
        (folder / "home").mkdir()
        self.home.make_directories()
        self.job_dir = folder / "job-dir"
        self.work = folder / "home" / "work"
        task = make_task(metrics=("m",))
        self.context = make_context(folder / "home", task, clock=self._tick)
        self.context.directories = [str(self.job_dir)]
        self.spool = Spool(self.home.spool, LIMIT_BYTES)
        self.context.journal = Journal(self.spool, LIMIT_BYTES, lambda: 7.0)
        self.watch = Watch(self.context)

    def _tick(self) -> float:
        self.now += LOOKED_S
        return self.now

    def wait(self) -> None:
        """As the supervisor does, until something is due."""
        assert self.watch.deadline() < NEVER
        self.now = max(self.now, self.watch.deadline())
        self.watch.advance()

    def finish(self) -> int:
        """The program's end; how many turns it took."""
        turns = 0
        while not self.watch.concluded:
            assert self.watch.deadline() <= max(self.now, self.watch.deadline())
            self.watch.advance_last()
            turns += 1
        return turns

    def take(self) -> tuple[Record, ...]:
        bodies = []
        while self.spool.waiting:
            batch = self.spool.read()
            bodies.append(batch.body)
            self.spool.acknowledge(batch.last)
        return decode_reports(b'{"records":[' + b",".join(bodies) + b"]}")

    def steps(self) -> list[int]:
        return [record.step for record in self.take() if isinstance(record, MetricRecord)]


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("CLOUD_ML_HP_METRIC_FILE", made.home.metrics)
    return made


def report(step: int, tag: str = "m") -> None:
    hypertune.HyperTune().report_hyperparameter_tuning_metric(tag, 0.5, step)


def told(step: int, tag: str = "m") -> bytes:
    return event(simple(tag, 0.5), step=step)


def test_both_ways_while_the_program_runs(world: World) -> None:
    report(1)
    write(world.job_dir / "eval" / "tfevents", told(2))
    world.wait()
    found = [record for record in world.take() if isinstance(record, MetricRecord)]
    assert [(r.step, r.source) for r in found] == [(1, "hypertune"), (2, "eval")]
    report(3)
    write(world.work / "tfevents", told(4))
    before, steps = world.now, list[int]()
    while len(steps) < 2:
        world.wait()
        steps += world.steps()
    assert steps == [3, 4]
    assert STAT_S < world.now - before <= POLL_INTERVAL_S + STAT_S


def test_once_more_when_it_has_ended(world: World) -> None:
    world.wait()
    report(1)
    write(world.work / "tfevents", told(2))
    world.finish()
    assert world.steps() == [1, 2]
    assert world.watch.deadline() == NEVER


def test_what_was_seen_in_place_of_it_is_told_at_the_end(world: World) -> None:
    report(1, "training accuracy")
    write(world.work / "tfevents", told(2, "epoch_m"))
    world.wait()
    assert world.take() == ()
    world.finish()
    (tags,) = world.take()
    assert isinstance(tags, TagsRecord)
    assert tags.tags == ("epoch_m", "training accuracy")


def fill(world: World) -> list[int]:
    """More than is read at once: each folder costs a question for the time."""
    for number in range(200):
        write(world.work / str(number) / "tfevents", told(number))
    return list(range(200))


def test_much_to_read_is_read_in_slices_with_rests(world: World) -> None:
    expected, found = fill(world), list[int]()
    began, turns, busy_s = world.now, 0, 0.0
    while len(found) < len(expected):
        world.now = max(world.now, world.watch.deadline())
        before = world.now
        world.watch.advance()
        busy_s += world.now - before
        turns += 1
        found += world.steps()
    assert sorted(found) == expected
    assert turns > 5
    assert busy_s < 0.3 * (world.now - began)


def test_at_the_end_there_are_no_rests(world: World) -> None:
    expected = fill(world)
    before = world.now
    assert world.finish() > 5
    assert sorted(world.steps()) == expected
    assert world.now - before < 1


def test_an_end_that_takes_too_long_is_given_up(world: World) -> None:
    fill(world)
    world.watch.advance_last()
    world.now += MAX_FINAL_SCAN_S
    world.finish()
    *_, note = world.take()
    assert isinstance(note, EventRecord)
    assert note.message == (
        "the service stopped reading the program's metrics 20 s after the program's end"
    )


def test_nothing_is_looked_for_while_nobody_takes_it(world: World) -> None:
    write(world.work / "tfevents", told(1))
    full = ["x" * 60_000] * (LIMIT_BYTES // 60_000 + 1)
    world.context.journal.lines("stdout", full)
    assert not world.context.journal.accepts()
    assert world.watch.deadline() == NEVER
    world.now += 1000
    world.watch.advance()
    world.watch.advance_last()
    assert not world.watch.concluded
    assert world.spool.last == len(full) + 1  # and the event that says so
    world.take()
    world.finish()
    assert world.steps() == [1]


@pytest.mark.parametrize("folders", [1, 200])
def test_a_steady_program_costs_little(world: World, folders: int) -> None:
    """Of the looks of an hour, each of which costs what its questions for the time do."""
    for number in range(folders):
        write(world.job_dir / str(number) / "tfevents", told(number))
    busy_s, began = 0.0, world.now
    while world.now < began + 3600:
        world.now = max(world.now, world.watch.deadline())
        before = world.now
        world.watch.advance()
        busy_s += world.now - before
        world.take()
    assert busy_s < 0.025 * 3600
