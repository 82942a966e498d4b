"""The JSON of resource usage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.usage import condense
from footplate.wire.timestamps import format_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.domain.usage import Figure, Point
    from footplate.wire.json_text import JsonObject

_DIGITS = 4


def encode_replica(name: str, points: Sequence[Point], most: int, *, ended: bool) -> JsonObject:
    """Encodes the use of a replica.

    ``overall`` covers the whole time, ``points`` divide it into at most ``most`` parts. ``now`` is
    included unless the job has ended.
    """
    document: JsonObject = {
        "replica": name,
        "updateTime": format_time(points[-1].time),
        "overall": _point(condense(points, 1)[0]),
        "points": [_point(point) for point in condense(points, most)],
    }
    if not ended:
        document["now"] = _point(points[-1])
    return document


def _point(point: Point) -> JsonObject:
    document: JsonObject = {
        "time": format_time(point.time),
        "seconds": round(point.seconds, _DIGITS),
        **_figures(point.figures),
    }
    if point.gpus:
        document["gpus"] = {gpu: _figures(figures) for gpu, figures in point.gpus.items()}
    return document


def _figures(figures: Mapping[str, Figure]) -> JsonObject:
    return {
        name: {"mean": round(figure.mean, _DIGITS), "peak": round(figure.peak, _DIGITS)}
        for name, figure in figures.items()
    }
