"""The methods of TensorboardService that create many resources, and write and read points."""

from __future__ import annotations

from footplate.api.json_route import Call
from footplate.api.vertex_v1.tracking.resources import Formatter, name_of
from footplate.control.tracking import Resources, TimeSeries
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.tracking.names import EXPERIMENTS, RUNS, TENSORBOARDS, TIME_SERIES
from footplate.ports.clock import Clock
from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.paging import PageRule, list_json, parse_number_token
from footplate.wire.vertex_v1.time_series_data import (
    point_json,
    read_experiment_data,
    read_names,
    read_run_data,
    series_json,
)
from footplate.wire.vertex_v1.tracking_kinds import KINDS
from footplate.wire.vertex_v1.tracking_models import (
    CreateManyTimeSeries,
    CreateRuns,
    ExportTimeSeries,
)
from footplate.wire.vertex_v1.tracking_requests import read_batch

POINTS = 1000
"""Of each series where a client doesn't say how many."""
MAX_POINTS = 1_000_000
PAGES = PageRule(default=1000, maximum=10_000)


class TimeSeriesApi:
    """The handlers of time series, one for each API method."""

    def __init__(
        self, resources: Resources, series: TimeSeries, formatter: Formatter, clock: Clock
    ) -> None:
        self._resources = resources
        self._series = series
        self._formatter = formatter
        self._clock = clock

    def create_runs(self, call: Call) -> JsonObject:
        return self._create(call, RUNS, CreateRuns)

    def create_series(self, call: Call) -> JsonObject:
        return self._create(call, TIME_SERIES, CreateManyTimeSeries)

    def write_run(self, call: Call) -> JsonObject:
        run = name_of(call, RUNS)
        written = read_run_data(run, call.body(), self._clock.now())
        self._resources.get(run)
        self._series.write(written.points, written.types)
        return {}

    def write_experiment(self, call: Call) -> JsonObject:
        experiment = name_of(call, EXPERIMENTS)
        written = read_experiment_data(experiment, call.body(), self._clock.now())
        self._resources.get(experiment)
        self._series.write(written.points, written.types)
        return {}

    def read(self, call: Call) -> JsonObject:
        if call.parameter("filter"):
            raise InvalidArgument.of(
                (
                    Violation(
                        "filter", ("filters are not supported; limit the points by maxDataPoints")
                    ),
                )
            )
        most = _most(call.parameter("maxDataPoints", "max_data_points"))
        ((series, points),) = self._series.read([name_of(call, TIME_SERIES)], most)
        return {"timeSeriesData": series_json(series, points)}

    def read_many(self, call: Call) -> JsonObject:
        tensorboard = name_of(call, TENSORBOARDS)
        given = call.repeated("timeSeries", "time_series")
        if not given:
            raise InvalidArgument.of(
                (Violation("timeSeries", "required: the names of the time series"),)
            )
        found = self._series.read(read_names(tensorboard, given), POINTS)
        return {"timeSeriesData": [series_json(series, points) for series, points in found]}

    def export(self, call: Call) -> JsonObject:
        """Returns all points by their steps, in pages."""
        name, request = name_of(call, TIME_SERIES), ExportTimeSeries.decode(call.body())
        if request.filter or request.order_by not in (None, "", "step"):
            field = "filter" if request.filter else "orderBy"
            raise InvalidArgument.of(
                (
                    Violation(
                        field,
                        (
                            "filters are not supported; the answer has all points in the "
                            "order of their steps"
                        ),
                    ),
                )
            )
        size = PAGES.size(str(request.page_size or ""))
        after = parse_number_token(request.page_token, str(name))
        points = self._series.page(name, size + 1, after)
        found = [point_json(point) for point in points[:size]]
        more = str(points[size - 1].step) if len(points) > size else None
        return list_json("timeSeriesDataPoints", found, more, str(name))

    def _create(self, call: Call, collection: str, message: type[JsonModel]) -> JsonObject:
        kind, parent = KINDS[collection], name_of(call, EXPERIMENTS)
        asked = [
            (outer.inner(collection, own_id or self._resources.new_id()), fields)
            for outer, own_id, fields in read_batch(kind, parent, call.body(), message)
        ]
        return {kind.listed: [*self._formatter.all(kind, self._resources.create_all(asked))]}


def _most(given: str | None) -> int:
    """Returns the most points to read; -1 means the maximum. Raises InvalidArgument."""
    text = given or str(POINTS)
    if text == "-1":
        return MAX_POINTS
    if not (text.isascii() and text.isdigit() and int(text[:9])):
        said = f"{describe(text)} given; allowed: 1 or more, or -1 for all points"
        raise InvalidArgument.of((Violation("maxDataPoints", said),))
    return min(int(text[:9]), MAX_POINTS)
