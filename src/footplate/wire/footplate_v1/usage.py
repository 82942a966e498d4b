"""Answers about resource usage."""

from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import Field

from footplate.domain import usage
from footplate.wire.footplate_v1.answer import Answer
from footplate.wire.timestamps import format_time

_DIGITS = 4


class Figure(Answer):
    """The mean and peak of one quantity over some time."""

    mean: float
    peak: float


class GpuFigures(Answer):
    """The use of a GPU; None: the GPU does not report it."""

    percent: Figure | None = None
    memory_bytes: Figure | None = None


class Point(Answer):
    """The use in the ``seconds`` before ``time``; None: not known there."""

    time: str = ""
    seconds: float = 0.0
    cpu: Figure | None = None
    """In vCPUs: 1.0 is all of one."""
    memory_bytes: Figure | None = None
    read_bytes_per_second: Figure | None = None
    written_bytes_per_second: Figure | None = None
    processes: Figure | None = None
    reduced_bytes_per_second: Figure | None = None
    awaiting_workers: Figure | None = None
    gpus: dict[str, GpuFigures] = Field(default_factory=dict)

    @classmethod
    def of(cls, point: usage.Point) -> Self:
        """Returns the answer on a point, whose figures have the names that they have here."""
        gpus = {gpu: _figures(figures) for gpu, figures in point.gpus.items()}
        return cls.model_validate(
            {
                "time": format_time(point.time),
                "seconds": round(point.seconds, _DIGITS),
                **_figures(point.figures),
                **({"gpus": gpus} if gpus else {}),
            }
        )


class ReplicaUsage(Answer):
    """The use of a replica; ``now`` is None where the job has ended."""

    replica: str = ""
    update_time: str = ""
    overall: Point = Point()
    """Of all the time."""
    points: tuple[Point, ...] = ()
    """They divide it."""
    now: Point | None = None

    @classmethod
    def of(cls, name: str, points: Sequence[usage.Point], most: int, *, ended: bool) -> Self:
        """Returns the answer with ``most`` points at most."""
        return cls(
            replica=name,
            update_time=format_time(points[-1].time),
            overall=Point.of(usage.condense(points, 1)[0]),
            points=tuple(map(Point.of, usage.condense(points, most))),
            now=None if ended else Point.of(points[-1]),
        )


class JobUsage(Answer):
    """The use of those replicas of a job of which something is known."""

    replicas: tuple[ReplicaUsage, ...] = ()


def _figures(figures: Mapping[str, usage.Figure]) -> dict[str, Figure]:
    return {
        name: Figure(mean=round(figure.mean, _DIGITS), peak=round(figure.peak, _DIGITS))
        for name, figure in figures.items()
    }
