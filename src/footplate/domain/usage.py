"""Resource usage of a replica: samples of counters, and points of a chart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

CPU = "cpu"
"""In vCPUs: 1.0 is all of one."""
MEMORY = "memoryBytes"
READ = "readBytesPerSecond"
WRITTEN = "writtenBytesPerSecond"
PROCESSES = "processes"
REDUCED = "reducedBytesPerSecond"
"""What a reduction server gets from its workers."""
AWAITED = "awaitingWorkers"
"""How much of its time a reduction server waits for the last worker to send its part."""


@dataclass(frozen=True)
class GpuUse:
    """The use of a GPU; a value is None if the GPU doesn't report it."""

    id: str
    percent: float | None
    memory_bytes: int | None


@dataclass(frozen=True)
class Counters:
    """The amounts used since the program's start ``seconds`` ago; None: not available."""

    seconds: float = 0.0
    cpu_s: float | None = None
    read_bytes: int | None = None
    written_bytes: int | None = None
    reduced_bytes: int | None = None
    awaited_s: float | None = None


@dataclass(frozen=True)
class Sample:
    """One sample of a replica's program.

    ``quiet_s``: seconds since the program last printed or reported anything or, once that is long
    ago, wrote to a file. ``stopped``: all its processes are stopped by a signal.
    """

    sequence: int
    time: datetime
    counters: Counters
    quiet_s: float
    memory_bytes: int | None = None
    processes: int | None = None
    stopped: bool = False
    gpus: tuple[GpuUse, ...] = ()


@dataclass(frozen=True)
class Figure:
    """The mean and peak of one quantity over a period."""

    mean: float
    peak: float


@dataclass(frozen=True)
class Point:
    """The mean and peak use in the ``seconds`` before ``time``."""

    time: datetime
    seconds: float
    figures: Mapping[str, Figure]
    gpus: Mapping[str, Mapping[str, Figure]] = field(default_factory=dict)
    """By the id of each: ``percent`` and ``memoryBytes``."""


GPU_PERCENT = "percent"

_RATES = {
    CPU: "cpu_s",
    READ: "read_bytes",
    WRITTEN: "written_bytes",
    REDUCED: "reduced_bytes",
    AWAITED: "awaited_s",
}


def point_of(sample: Sample, before: Counters | None, time: datetime) -> Point:
    """Returns the use since ``before``, the previous sample's counters; None: there is none.

    If the program has restarted in between, its use counts from its own start.
    """
    now = sample.counters
    start = before if before is not None and before.seconds < now.seconds else Counters()
    seconds = now.seconds - start.seconds
    figures = {}
    for name, counter in _RATES.items():
        total = getattr(now, counter)
        if total is not None and seconds > 0:
            figures[name] = _steady(max(0.0, total - (getattr(start, counter) or 0)) / seconds)
    for name, amount in ((MEMORY, sample.memory_bytes), (PROCESSES, sample.processes)):
        if amount is not None:
            figures[name] = _steady(amount)
    return Point(time, max(0.0, seconds), figures, {gpu.id: _gpu(gpu) for gpu in sample.gpus})


def _gpu(gpu: GpuUse) -> dict[str, Figure]:
    amounts = {GPU_PERCENT: gpu.percent, MEMORY: gpu.memory_bytes}
    return {name: _steady(value) for name, value in amounts.items() if value is not None}


def _steady(value: float) -> Figure:
    return Figure(float(value), float(value))


def condense(points: Sequence[Point], most: int) -> tuple[Point, ...]:
    """Reduces points to at most ``most``, over equal periods except for gaps; means stay exact.

    ``points`` are in the order of their times.
    """
    if len(points) <= most:
        return tuple(points)
    begin = points[0].time
    width_s = (points[-1].time - begin).total_seconds() / most

    def place(point: Point) -> int:
        if width_s <= 0:
            return 0
        return min(most - 1, int((point.time - begin).total_seconds() / width_s))

    return tuple(merge(tuple(group)) for _, group in groupby(points, place))


def merge(points: Sequence[Point]) -> Point:
    """Merges points into one; there must be at least one."""
    ids = dict.fromkeys(gpu for point in points for gpu in point.gpus)
    return Point(
        points[-1].time,
        sum(point.seconds for point in points),
        _merge((point.seconds, point.figures) for point in points),
        {gpu: _merge((p.seconds, p.gpus[gpu]) for p in points if gpu in p.gpus) for gpu in ids},
    )


def _merge(parts: Iterable[tuple[float, Mapping[str, Figure]]]) -> dict[str, Figure]:
    """Merges figures; a mean weighs as much as the length of its period."""
    found: dict[str, list[tuple[float, Figure]]] = {}
    for seconds, figures in parts:
        for name, figure in figures.items():
            found.setdefault(name, []).append((seconds, figure))
    return {name: _merge_figures(weighed) for name, weighed in found.items()}


def _merge_figures(weighed: Sequence[tuple[float, Figure]]) -> Figure:
    total_s = sum(seconds for seconds, _ in weighed)
    peak = max(figure.peak for _, figure in weighed)
    if total_s <= 0:
        return Figure(sum(figure.mean for _, figure in weighed) / len(weighed), peak)
    return Figure(sum(seconds * figure.mean for seconds, figure in weighed) / total_s, peak)
