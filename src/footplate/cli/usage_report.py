"""Prints the resource usage of a job's replicas as a table with a small chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.table import table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.wire.footplate_v1.usage import Figure, Point, ReplicaUsage

CHART_WIDTH = 24
"""Points of the chart in a table."""
_BARS = "▁▂▃▄▅▆▇█"
_NONE = "-"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")

_COLUMNS: tuple[tuple[str, Callable[[ReplicaUsage], str]], ...] = (
    ("REPLICA", lambda usage: usage.replica),
    ("CPU", lambda usage: _percent(_mean(usage.now.cpu if usage.now else None))),
    ("CPU_MEAN", lambda usage: _percent(_mean(usage.overall.cpu))),
    ("CPU_PEAK", lambda usage: _percent(_peak(usage.overall.cpu))),
    ("MEMORY", lambda usage: _bytes(_mean(usage.now.memory_bytes if usage.now else None))),
    ("MEMORY_PEAK", lambda usage: _bytes(_peak(usage.overall.memory_bytes))),
    ("READ", lambda usage: _total(usage.overall, usage.overall.read_bytes_per_second)),
    ("WRITTEN", lambda usage: _total(usage.overall, usage.overall.written_bytes_per_second)),
    ("REDUCED", lambda usage: _total(usage.overall, usage.overall.reduced_bytes_per_second)),
    ("AWAITING", lambda usage: _percent(_mean(usage.overall.awaiting_workers))),
    ("GPU", lambda usage: _gpu(usage.now or usage.overall)),
    ("CPU_OVER_TIME", lambda usage: _chart(usage.points)),
)


def usage_table(replicas: Sequence[ReplicaUsage]) -> str:
    """Returns a table with a row for each replica; CPU is in percent of one vCPU.

    ``CPU``, ``MEMORY`` and ``GPU`` are current values, disks are totals. Columns without any values
    are left out.
    """
    cells = [[column(usage) for _, column in _COLUMNS] for usage in replicas]
    shown = [i for i in range(len(_COLUMNS)) if any(row[i] != _NONE for row in cells)]
    return table([_COLUMNS[i][0] for i in shown], [[row[i] for i in shown] for row in cells])


def _mean(figure: Figure | None) -> float | None:
    return None if figure is None else figure.mean


def _peak(figure: Figure | None) -> float | None:
    return None if figure is None else figure.peak


def _total(point: Point, rate: Figure | None) -> str:
    """Returns a rate's total over the point's time."""
    return _bytes(None if rate is None else rate.mean * point.seconds)


def _percent(cpus: float | None) -> str:
    return _NONE if cpus is None else f"{cpus * 100:.0f}%"


def _bytes(count: float | None) -> str:
    if count is None:
        return _NONE
    for unit in _UNITS[:-1]:
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} {_UNITS[-1]}"


def _gpu(point: Point) -> str:
    """Returns how busy each GPU is, and how much of its memory is in use."""
    columns = []
    for figures in point.gpus.values():
        busy, used = figures.percent, figures.memory_bytes
        parts = [f"{busy.mean:.0f}%"] if busy else []
        parts += [_bytes(used.mean)] if used else []
        columns.append(" ".join(parts) or _NONE)
    return ", ".join(columns) or _NONE


def _chart(points: Sequence[Point]) -> str:
    """Draws means from zero to the highest, but at least one vCPU, so that idling shows."""
    means = [_mean(point.cpu) or 0.0 for point in points]
    top = max((1.0, *means))
    last = len(_BARS) - 1
    return "".join(_BARS[min(last, int(mean / top * len(_BARS)))] for mean in means) or _NONE
