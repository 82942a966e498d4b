"""Client of resource usage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.client.jobs import job_path
from footplate.domain.errors import UnknownError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from footplate.client.http_client import Connection
    from footplate.domain.names import JobName


@dataclass(frozen=True)
class Figure:
    mean: float
    peak: float


@dataclass(frozen=True)
class Point:
    """The use in the ``seconds`` before ``time``, by the API's names such as ``cpu``."""

    time: str
    seconds: float
    figures: Mapping[str, Figure]
    gpus: Mapping[str, Mapping[str, Figure]]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> Point:
        gpus = resource.get("gpus")
        return cls(
            time=str(resource.get("time", "")),
            seconds=_number(resource.get("seconds", 0)),
            figures=_figures(resource),
            gpus={i: _figures(g) for i, g in gpus.items() if isinstance(g, dict)}
            if isinstance(gpus, dict)
            else {},
        )


@dataclass(frozen=True)
class ReplicaUsage:
    """The use of a replica. ``now`` is None after the job's end; ``resource`` is the JSON."""

    replica: str
    now: Point | None
    overall: Point
    points: tuple[Point, ...]
    resource: Mapping[str, JsonValue]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> ReplicaUsage:
        now, overall, points = (resource.get(key) for key in ("now", "overall", "points"))
        return cls(
            replica=str(resource.get("replica", "")),
            now=Point.read(now) if isinstance(now, dict) else None,
            overall=Point.read(overall if isinstance(overall, dict) else {}),
            points=tuple(Point.read(point) for point in _objects(points)),
            resource=resource,
        )


def read_usage(
    connection: Connection, name: JobName, replica: str = "", points: int | None = None
) -> tuple[ReplicaUsage, ...]:
    params = {"replica": replica} if replica else {}
    if points is not None:
        params["points"] = str(points)
    path = job_path(name, "/footplate/v1") + "/usage"
    answer = connection.call("GET", path, params=params)
    return tuple(ReplicaUsage.read(resource) for resource in _objects(answer.get("replicas")))


def _objects(value: JsonValue) -> Sequence[Mapping[str, JsonValue]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _figures(resource: Mapping[str, JsonValue]) -> dict[str, Figure]:
    return {
        name: Figure(_number(value["mean"]), _number(value["peak"]))
        for name, value in resource.items()
        if isinstance(value, Mapping) and "mean" in value and "peak" in value
    }


def _number(value: JsonValue) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise UnknownError(f"the server sent the value {value!r}, not a number")
