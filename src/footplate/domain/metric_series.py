"""The values of a metric that a program reports over time, in bounded memory. Pure."""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass

MOST_POINTS = 500
"""Kept of a series: of a longer one every second point, then every fourth, and the last."""
_LATEST = 253402300799.0
_MAX_STEP = 1 << 53


@dataclass(frozen=True)
class MetricPoint:
    """A value that a program reported; ``time_s`` is in seconds since 1970."""

    step: int
    time_s: float
    value: float


@dataclass(frozen=True)
class MetricSeries:
    """The values of one metric, in the order in which they were reported.

    ``source`` is the folder of the event file, or ``hypertune``.
    """

    metric: str
    source: str
    points: tuple[MetricPoint, ...]


@dataclass(frozen=True)
class ReportedMetrics:
    """The metrics that a program has reported.

    ``more``: there is still something left to read. ``omitted``: there are more series than these.
    """

    series: tuple[MetricSeries, ...]
    more: bool
    omitted: bool


class SeriesPoints:
    """Collects the points of one series."""

    def __init__(self) -> None:
        self._steps = array("d")
        self._times = array("d")
        self._values = array("d")
        self._stride = 1
        self._count = 0
        self._last: MetricPoint | None = None

    def add(self, step: int, time_s: float, value: float) -> None:
        """Adds a point; an impossible time becomes 0."""
        time_s = time_s if math.isfinite(time_s) and 0 <= time_s <= _LATEST else 0.0
        self._last = MetricPoint(min(max(step, 0), _MAX_STEP), time_s, value)
        if self._count % self._stride == 0:
            self._steps.append(self._last.step)
            self._times.append(time_s)
            self._values.append(value)
            if len(self._steps) > MOST_POINTS:
                self._halve()
        self._count += 1

    def _halve(self) -> None:
        self._stride *= 2
        for column in (self._steps, self._times, self._values):
            column[:] = column[::2]

    def points(self) -> tuple[MetricPoint, ...]:
        columns = zip(self._steps, self._times, self._values, strict=True)
        found = tuple(MetricPoint(int(step), time, value) for step, time, value in columns)
        if self._last is None or (self._count - 1) % self._stride == 0:
            return found
        return (*found, self._last)
