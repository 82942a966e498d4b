"""The points of TensorBoards' time series."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.tracking.names import TIME_SERIES, TrackingName
from footplate.domain.tracking.points import Extent, Point
from footplate.domain.tracking.resources import Resource
from footplate.ports.tracking import TrackingStore

VALUE_TYPE = "valueType"


class TimeSeries:
    def __init__(self, store: TrackingStore) -> None:
        self._store = store

    def write(
        self, points: Mapping[TrackingName, Sequence[Point]], types: Mapping[TrackingName, str]
    ) -> None:
        """Writes all points or none; ``types`` has the type of each series according to the caller.

        Raises:
            NotFound: a time series doesn't exist.
            InvalidArgument: a time series has values of another type.
        """
        for series in self._series(points):
            known = series.text(VALUE_TYPE)
            given = types[series.name]
            if given != known:
                said = f"{given} given for {series.name}; allowed: {known}, which is its valueType"
                raise InvalidArgument.of((Violation("timeSeriesData.valueType", said),))
        self._store.append(points)

    def read(self, names: Sequence[TrackingName], most: int) -> list[tuple[Resource, list[Point]]]:
        """Returns each series with up to ``most`` points, evenly chosen. Raises NotFound."""
        return [
            (series, list(self._store.sample(series.name, most))) for series in self._series(names)
        ]

    def page(self, name: TrackingName, limit: int, after: int | None) -> tuple[Point, ...]:
        """Returns up to ``limit`` points of a series, after step ``after``. Raises NotFound."""
        return self._store.points(name, limit=limit, after=after)

    def extents(self, names: Collection[TrackingName]) -> Mapping[TrackingName, Extent]:
        """Returns the last step and time of each series that has points."""
        return self._store.extents(names) if names else {}

    def _series(self, names: Collection[TrackingName]) -> list[Resource]:
        """Returns the series in the order of ``names``. Raises NotFound."""
        found = {
            each.name: each for each in self._store.find(names) if each.name.kind == TIME_SERIES
        }
        for name in names:
            if name not in found:
                raise NotFound(f"{name} does not exist")
        return [found[name] for name in dict.fromkeys(names)]
