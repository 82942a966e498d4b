"""The points of time series, as TensorboardService reads and answers them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime

from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.tracking.names import RUNS, TIME_SERIES, TrackingName, parse_tracking_name
from footplate.domain.tracking.points import Point
from footplate.domain.tracking.resources import Resource
from footplate.wire.doubles import double_json
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, describe, format_object
from footplate.wire.timestamps import format_time, parse_time
from footplate.wire.vertex_v1 import tracking_models as models

_FIELDS = {
    models.ValueType.SCALAR: "scalar",
    models.ValueType.TENSOR: "tensor",
    models.ValueType.BLOB_SEQUENCE: "blobs",
}
"""Of a point, by the type of its series."""


class Written:
    """The points of a request by series, and the type that it states for each series."""

    def __init__(self) -> None:
        self.points: dict[TrackingName, list[Point]] = {}
        self.types: dict[TrackingName, str] = {}


def read_run_data(run: TrackingName, body: JsonObject, now: datetime) -> Written:
    """Reads the points of one run. Raises InvalidArgument."""
    understood = models.WriteRunData.understand(body)
    request = understood.message
    refuse(understood.with_rules(_check_run(request, "")))
    written = Written()
    _add(written, run, request, now)
    return written


def read_experiment_data(experiment: TrackingName, body: JsonObject, now: datetime) -> Written:
    """Reads the points of an experiment's runs. Raises InvalidArgument."""
    understood = models.WriteExperimentData.understand(body)
    requests = understood.message.write_run_data_requests or []
    found = [
        violation
        for number, request in enumerate(requests)
        for violation in (
            *_check_run(request, f"writeRunDataRequests[{number}]."),
            *_check_run_name(request, experiment, f"writeRunDataRequests[{number}]"),
        )
    ]
    refuse(understood.with_rules(found))
    written = Written()
    for request in requests:
        _add(written, parse_tracking_name(request.tensorboard_run or ""), request, now)
    return written


def read_names(tensorboard: TrackingName, given: Sequence[str]) -> list[TrackingName]:
    """Returns the time series that a batchRead names. Raises InvalidArgument."""
    names = []
    for number, text in enumerate(given):
        name = _name(text)
        if name is None or name.kind != TIME_SERIES or not name.is_in(tensorboard):
            rule = f"{tensorboard}/experiments/EXPERIMENT/runs/RUN/timeSeries/TIME_SERIES"
            said = f"{describe(text)} given; allowed: {rule}"
            raise InvalidArgument.of((Violation(f"timeSeries[{number}]", said),))
        names.append(name)
    return names


def series_json(series: Resource, points: Sequence[Point]) -> JsonObject:
    answer: JsonObject = {
        "tensorboardTimeSeriesId": series.name.id,
        "valueType": series.text("valueType"),
    }
    if points:
        answer["values"] = [point_json(point) for point in points]
    return answer


def point_json(point: Point) -> JsonObject:
    answer: JsonObject = {"step": str(point.step), "wallTime": format_time(point.time)}
    if isinstance(point.value, str):
        return {**answer, **json.loads(point.value)}
    return {**answer, "scalar": {"value": double_json(point.value)}}


def _add(written: Written, run: TrackingName, request: models.WriteRunData, now: datetime) -> None:
    for data in request.time_series_data or ():
        series = run.inner(TIME_SERIES, data.tensorboard_time_series_id or "")
        written.types[series] = (data.value_type or models.ValueType.SCALAR).name
        points = written.points.setdefault(series, [])
        points += [_point(point, now) for point in data.values or ()]


def _point(given: models.DataPoint, now: datetime) -> Point:
    time = now if given.wall_time is None else parse_time(given.wall_time)
    for name, value in (("tensor", given.tensor), ("blobs", given.blobs)):
        if value is not None:
            return Point(given.step or 0, time, format_object({name: value.encode()}))
    return Point(given.step or 0, time, (given.scalar and given.scalar.value) or 0.0)


def _check_run(request: models.WriteRunData, at: str) -> Iterator[Violation]:
    for number, data in enumerate(request.time_series_data or ()):
        place = f"{at}timeSeriesData[{number}]"
        if not data.tensorboard_time_series_id:
            yield Violation(f"{place}.tensorboardTimeSeriesId", "required")
        if data.value_type not in _FIELDS:
            given = "required" if data.value_type is None else f"{data.value_type.name} given"
            allowed = ", ".join(kind.name for kind in _FIELDS)
            yield Violation(f"{place}.valueType", f"{given}; allowed: {allowed}")
        for index, point in enumerate(data.values or ()):
            yield from _check_point(point, data.value_type, f"{place}.values[{index}]")


def _check_point(
    point: models.DataPoint, kind: models.ValueType | None, at: str
) -> Iterator[Violation]:
    known = {"scalar": point.scalar, "tensor": point.tensor, "blobs": point.blobs}
    given = [name for name, value in known.items() if value is not None]
    if kind in _FIELDS and given != [_FIELDS[kind]]:
        said = f"{' and '.join(given) or 'no value'} given; allowed: {_FIELDS[kind]}"
        yield Violation(at, said)
    if (point.step or 0) < 0:
        yield Violation(f"{at}.step", f"{point.step} given; allowed: 0 or more")


def _check_run_name(
    request: models.WriteRunData, experiment: TrackingName, at: str
) -> Iterator[Violation]:
    name = _name(request.tensorboard_run or "")
    if name is None or name.kind != RUNS or name.outer != experiment:
        rule = f"{experiment}/runs/RUN"
        said = f"{describe(request.tensorboard_run)} given; allowed: {rule}"
        yield Violation(f"{at}.tensorboardRun", said)


def _name(text: str) -> TrackingName | None:
    try:
        return parse_tracking_name(text)
    except NotFound:
        return None
