"""What every history of utilisation must do; a test class derives from it and makes one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from footplate.domain.log_lines import RESTART_SPAN
from footplate.domain.names import JobUid
from footplate.domain.usage import CPU, MEMORY, PROCESSES, Counters, Figure, GpuUse, Sample

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.domain.usage import Point
    from footplate.ports.usage import UsageHistory

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
JOB = JobUid("0" * 32)
OTHER = JobUid("1" * 32)
MASTER = "master-replica-0"
WORKER = "worker-replica-0"
ALL = 100_000


def make_sample(sequence: int, seconds: float | None = None, cpu_s: float | None = None) -> Sample:
    """One each 10 s, of a program that uses half a vCPU and 1000 bytes."""
    seconds = 10.0 * sequence if seconds is None else seconds
    counters = Counters(seconds, seconds / 2 if cpu_s is None else cpu_s, 0, 100 * sequence)
    time = START + timedelta(seconds=seconds)
    return Sample(sequence, time, counters, quiet_s=0.0, memory_bytes=1000, processes=2)


def make_samples(first: int, last: int) -> list[Sample]:
    return [make_sample(sequence) for sequence in range(first, last + 1)]


def times(points: tuple[Point, ...]) -> list[float]:
    """In seconds since the start."""
    return [(point.time - START).total_seconds() for point in points]


class UsageContract(ABC):
    """The suite."""

    @abstractmethod
    def open_history(self, directory: Path) -> UsageHistory: ...

    @pytest.fixture
    def history(self, tmp_path: Path) -> UsageHistory:
        return self.open_history(tmp_path)

    def test_what_was_used_between_two_samples_is_a_point(self, history: UsageHistory) -> None:
        history.append(JOB, 1, MASTER, [make_sample(1), make_sample(3, 30.0, cpu_s=45.0)])
        first, second = history.read(JOB, MASTER, ALL)
        assert first.figures[CPU] == Figure(0.5, 0.5), "it counts from the program's beginning"
        assert second.figures[CPU] == Figure(2.0, 2.0)
        assert second.figures[MEMORY] == Figure(1000, 1000)
        assert second.figures[PROCESSES] == Figure(2, 2)
        assert (second.time, second.seconds) == (START + timedelta(seconds=30), 20.0)

    def test_gpus_are_told_apart(self, history: UsageHistory) -> None:
        gpus = (GpuUse("0", 50.0, 10), GpuUse("3", None, 20), GpuUse("4", None, None))
        sample = Sample(1, START, Counters(1.0), quiet_s=0.0, gpus=gpus)
        history.append(JOB, 1, MASTER, [sample])
        (point,) = history.read(JOB, MASTER, ALL)
        assert point.gpus == {
            "0": {"percent": Figure(50, 50), "memoryBytes": Figure(10, 10)},
            "3": {"memoryBytes": Figure(20, 20)},
            "4": {},
        }

    def test_what_comes_again_is_kept_once(self, history: UsageHistory) -> None:
        history.append(JOB, 1, MASTER, make_samples(1, 3))
        history.append(JOB, 1, MASTER, make_samples(1, 3))
        history.append(JOB, 1, MASTER, make_samples(2, 5))
        history.append(JOB, 1, MASTER, [make_sample(9), make_sample(9), make_sample(8)])
        assert times(history.read(JOB, MASTER, ALL)) == [10, 20, 30, 40, 50, 90]

    def test_each_attempt_counts_for_itself(self, history: UsageHistory) -> None:
        history.append(JOB, 1, MASTER, [make_sample(8)])
        history.append(JOB, 2, MASTER, [make_sample(2, 90.0)])
        history.append(JOB, 1, MASTER, [make_sample(9)])
        assert times(history.read(JOB, MASTER, ALL)) == [80, 90], "the old attempt is over"
        assert history.last(JOB, 2, MASTER) == 2
        assert history.read(JOB, MASTER, ALL)[1].seconds == 90.0

    def test_a_replica_that_was_started_again_counts_from_its_beginning(
        self, history: UsageHistory
    ) -> None:
        history.append(JOB, 1, MASTER, [make_sample(1, 10.0)])
        again = replace(make_sample(1, 12.0), sequence=RESTART_SPAN + 1)
        history.append(JOB, 1, MASTER, [again])
        point = history.read(JOB, MASTER, ALL)[1]
        assert (point.seconds, point.figures[CPU].mean) == (12.0, 0.5)

    def test_the_last_sequence_is_known(self, history: UsageHistory) -> None:
        assert history.last(JOB, 1, MASTER) == 0
        history.append(JOB, 1, MASTER, make_samples(4, 7))
        assert history.last(JOB, 1, MASTER) == 7
        assert history.last(JOB, 2, MASTER) == 0
        assert history.last(JOB, 1, WORKER) == 0
        assert history.last(OTHER, 1, MASTER) == 0

    def test_replicas_and_jobs_are_apart(self, history: UsageHistory) -> None:
        assert history.replicas(JOB) == ()
        history.append(JOB, 1, WORKER, make_samples(1, 1))
        history.append(JOB, 1, MASTER, make_samples(1, 2))
        history.append(OTHER, 1, WORKER, make_samples(1, 3))
        assert history.replicas(JOB) == (MASTER, WORKER)
        lengths = [len(history.read(JOB, name, ALL)) for name in (MASTER, WORKER)]
        assert lengths == [2, 1]

    def test_few_points_say_what_many_did(self, history: UsageHistory) -> None:
        history.append(JOB, 1, MASTER, [*make_samples(1, 99), make_sample(100, cpu_s=515.0)])
        points = history.read(JOB, MASTER, 10)
        assert len(points) == 10
        assert sum(point.seconds for point in points) == pytest.approx(1000.0)
        used_s = sum(point.seconds * point.figures[CPU].mean for point in points)
        assert used_s == pytest.approx(515.0)
        assert points[-1].figures[CPU].peak == 2.0
        assert points[-1].figures[CPU].mean < 1.0

    def test_only_what_is_younger(self, history: UsageHistory) -> None:
        history.append(JOB, 1, MASTER, make_samples(1, 5))
        since = START + timedelta(seconds=30)
        assert times(history.read(JOB, MASTER, ALL, since)) == [40, 50]

    def test_nothing_is_nothing(self, history: UsageHistory) -> None:
        history.append(JOB, 1, MASTER, [])
        assert history.read(JOB, MASTER, ALL) == ()
        history.delete(JOB)

    def test_delete_leaves_nothing(self, history: UsageHistory) -> None:
        history.append(JOB, 1, MASTER, make_samples(1, 3))
        history.append(OTHER, 1, MASTER, make_samples(1, 3))
        history.delete(JOB)
        history.delete(JOB)
        assert history.read(JOB, MASTER, ALL) == ()
        assert history.replicas(JOB) == ()
        assert history.last(JOB, 1, MASTER) == 0
        assert len(history.read(OTHER, MASTER, ALL)) == 3
        history.append(JOB, 1, MASTER, make_samples(1, 1))
        assert len(history.read(JOB, MASTER, ALL)) == 1
