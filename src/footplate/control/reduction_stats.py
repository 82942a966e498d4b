"""Totals of all reduction servers' work."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock

from footplate.control.tokens import Bearer
from footplate.domain.replica_records import Record, UsageRecord
from footplate.domain.usage import Sample

_MOST_REMEMBERED = 10_000


@dataclass(frozen=True)
class ReductionStats:
    """The work of reduction servers since this server began.

    ``awaited_s`` is the time spent waiting for late workers.
    """

    received_bytes: int = 0
    awaited_s: float = 0.0

    def plus(self, now: ReductionStats, before: ReductionStats) -> ReductionStats:
        return ReductionStats(
            self.received_bytes + max(0, now.received_bytes - before.received_bytes),
            self.awaited_s + max(0.0, now.awaited_s - before.awaited_s),
        )


@dataclass(frozen=True)
class _LastSample:
    """The last sample of one start of a replica."""

    sequence: int
    reduced: ReductionStats


class ReductionTotals:
    """Adds up the samples of reduction servers, which may be repeated or late; thread-safe."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._began = monotonic()
        self._last: OrderedDict[Bearer, _LastSample] = OrderedDict()
        self._mutex = Lock()
        self.total = ReductionStats()

    def receive(self, bearer: Bearer, records: Sequence[Record]) -> None:
        for record in records:
            if isinstance(record, UsageRecord) and record.sample.counters.reduced_bytes is not None:
                self._add(bearer, record.sample)

    def _add(self, bearer: Bearer, sample: Sample) -> None:
        counters = sample.counters
        now = ReductionStats(counters.reduced_bytes or 0, counters.awaited_s or 0.0)
        with self._mutex:
            last = self._last.get(bearer)
            if last is not None and sample.sequence <= last.sequence:
                return
            before = self._at_first(sample, now) if last is None else last.reduced
            self.total = self.total.plus(now, before)
            self._last[bearer] = _LastSample(sample.sequence, now)
            self._last.move_to_end(bearer)
            if len(self._last) > _MOST_REMEMBERED:
                self._last.popitem(last=False)

    def _at_first(self, sample: Sample, now: ReductionStats) -> ReductionStats:
        """Returns the work that isn't counted: all so far, of a program older than the server."""
        here_s = self._monotonic() - self._began
        return now if sample.counters.seconds > here_s else ReductionStats()
