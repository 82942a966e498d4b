"""Time series by their names: what is none is refused, and all or nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.control.tracking import TimeSeries
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.tracking.points import Extent, Point
from footplate.store import open_store
from tests.support.jobs import CREATED
from tests.support.tracking import BOARD, make_resource, name

RUN = f"{BOARD}/experiments/e/runs/r"
LOSS, IMAGES = (name(f"{RUN}/timeSeries/{own_id}") for own_id in ("loss", "images"))
TYPES = {LOSS: "SCALAR", IMAGES: "BLOB_SEQUENCE"}
POINTS = [Point(step, CREATED, step / 10) for step in range(9)]


@pytest.fixture
def series(tmp_path: Path) -> Iterator[TimeSeries]:
    with closing(open_store(f"sqlite:///{tmp_path}/footplate.db")) as store:
        for outer in (BOARD, f"{BOARD}/experiments/e", RUN):
            store.tracking.create([make_resource(outer)])
        for each, kind in TYPES.items():
            store.tracking.create([make_resource(str(each), displayName=each.id, valueType=kind)])
        yield TimeSeries(store.tracking)


def test_points_come_back_in_the_order_of_the_series_asked_for(series: TimeSeries) -> None:
    series.write({LOSS: POINTS}, TYPES)
    found = series.read([IMAGES, LOSS, LOSS], most=9)
    assert [(each.name, points) for each, points in found] == [(IMAGES, []), (LOSS, POINTS)]
    assert series.page(LOSS, limit=2, after=3) == tuple(POINTS[4:6])
    assert series.extents([LOSS, IMAGES]) == {LOSS: Extent(8, CREATED)}
    assert series.extents([]) == {}


@pytest.mark.parametrize("missing", [f"{RUN}/timeSeries/none", RUN])
def test_what_is_no_time_series_is_not_found(series: TimeSeries, missing: str) -> None:
    with pytest.raises(NotFound, match="does not exist"):
        series.write({LOSS: POINTS, name(missing): POINTS}, {**TYPES, name(missing): ""})
    with pytest.raises(NotFound, match="does not exist"):
        series.read([name(missing)], most=1)
    assert series.extents([LOSS]) == {}


def test_values_of_another_type_are_refused(series: TimeSeries) -> None:
    with pytest.raises(InvalidArgument, match="allowed: BLOB_SEQUENCE"):
        series.write({LOSS: POINTS, IMAGES: POINTS}, {**TYPES, IMAGES: "SCALAR"})
    assert series.extents([LOSS]) == {}
