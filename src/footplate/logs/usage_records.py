"""The records of a usage file: a JSON line for each point.

A line is a list: attempt, sequence, time, the seconds that the point is of, its figures (mean and
peak by name), those of its GPUs, and the counters from which the next point goes on.
"""

from __future__ import annotations

import json
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from footplate.domain.usage import Counters, Figure, Point

if TYPE_CHECKING:
    from collections.abc import Mapping

_DIGITS = 3
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True)
class Record:
    attempt: int
    sequence: int
    point: Point
    counters: Counters


def encode(record: Record) -> bytes:
    point = record.point
    row = (
        record.attempt,
        record.sequence,
        point.time.isoformat(),
        round(point.seconds, _DIGITS),
        _figures(point.figures),
        {gpu: _figures(figures) for gpu, figures in point.gpus.items()},
        astuple(record.counters),
    )
    return _encode(row).encode("ascii") + b"\n"


def decode(line: bytes) -> Record | None:
    """The record that ``line`` is; None for anything else."""
    try:
        attempt, sequence, time, seconds, figures, gpus, counters = json.loads(line)
        point = Point(
            datetime.fromisoformat(time),
            float(seconds),
            _read_figures(figures),
            {gpu: _read_figures(pairs) for gpu, pairs in gpus.items()},
        )
        return Record(int(attempt), int(sequence), point, Counters(*counters))
    except (ValueError, TypeError, AttributeError):
        return None


def _figures(figures: Mapping[str, Figure]) -> dict[str, tuple[float, float]]:
    return {n: (round(f.mean, _DIGITS), round(f.peak, _DIGITS)) for n, f in figures.items()}


def _read_figures(pairs: Mapping[str, Any]) -> dict[str, Figure]:
    return {name: Figure(float(mean), float(peak)) for name, (mean, peak) in pairs.items()}
