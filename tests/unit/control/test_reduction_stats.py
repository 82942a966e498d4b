"""Totals over all reduction servers, whatever their samples do on the way."""

from __future__ import annotations

from datetime import UTC, datetime

from footplate.control.reduction_stats import ReductionStats, ReductionTotals
from footplate.control.tokens import Bearer
from footplate.domain.names import AttemptId
from footplate.domain.replica_records import UsageRecord
from footplate.domain.usage import Counters, Sample

TIME = datetime(2026, 1, 2, tzinfo=UTC)
FIRST, SECOND = (Bearer(AttemptId("a-1"), f"workerpool2-{index}") for index in (0, 1))


class Watch:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.now = 500.0

    def __call__(self) -> float:
        return self.now


def sample(sequence: int, seconds: float, received: int | None, awaited_s: float) -> UsageRecord:
    counters = Counters(seconds, reduced_bytes=received, awaited_s=awaited_s)
    return UsageRecord(Sample(sequence, TIME, counters, quiet_s=0.0))


def totals_after(seconds: float) -> ReductionTotals:
    watch = Watch()
    totals = ReductionTotals(watch)
    watch.now += seconds
    return totals


def test_all_that_they_did_counts_once() -> None:
    totals = totals_after(100.0)

    totals.receive(FIRST, [sample(3, 10.0, 40, 1.0), sample(5, 20.0, 100, 1.5)])
    totals.receive(SECOND, [sample(2, 10.0, 7, 0.0)])
    totals.receive(FIRST, [sample(3, 10.0, 40, 1.0), sample(5, 20.0, 100, 1.5)])

    assert totals.total == ReductionStats(107, 1.5)


def test_what_was_done_before_this_server_began_does_not() -> None:
    totals = totals_after(5.0)

    totals.receive(FIRST, [sample(9, 3600.0, 10**9, 60.0)])
    totals.receive(FIRST, [sample(10, 3610.0, 10**9 + 5, 60.5)])

    assert totals.total == ReductionStats(5, 0.5)


def test_it_never_falls() -> None:
    totals = totals_after(100.0)

    totals.receive(FIRST, [sample(1, 10.0, 50, 2.0), sample(2, 20.0, 10, 1.0)])
    totals.receive(FIRST, [sample(3, 30.0, 15, 1.25)])

    assert totals.total == ReductionStats(55, 2.25)


def test_other_replicas_are_not_counted() -> None:
    totals = totals_after(100.0)

    totals.receive(FIRST, [sample(1, 10.0, None, 0.0)])

    assert totals.total == ReductionStats()
