"""Points of a chart: what many say, few say too."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.usage import (
    CPU,
    MEMORY,
    READ,
    WRITTEN,
    Counters,
    Figure,
    Point,
    Sample,
    condense,
    merge,
    point_of,
)

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def sample(seconds: float, cpu_s: float | None = None, written: int | None = None) -> Sample:
    return Sample(1, START, Counters(seconds, cpu_s, written_bytes=written), quiet_s=0.0)


def make_point(at_s: float, seconds: float, cpu: float) -> Point:
    return Point(START + timedelta(seconds=at_s), seconds, {CPU: Figure(cpu, cpu)})


points = st.lists(
    st.tuples(st.floats(0.5, 100), st.floats(0, 8), st.floats(0, 50)), min_size=1, max_size=60
).map(
    lambda parts: [
        make_point(at, seconds, cpu)
        for (seconds, cpu, _), at in zip(
            parts, accumulate(seconds + gap for seconds, _, gap in parts), strict=True
        )
    ]
)


def used_s(points: list[Point] | tuple[Point, ...]) -> float:
    return sum(point.seconds * point.figures[CPU].mean for point in points)


@given(points, st.integers(1, 70))
def test_fewer_points_say_the_same(points: list[Point], most: int) -> None:
    few = condense(points, most)
    assert 1 <= len(few) <= most
    assert used_s(few) == pytest.approx(used_s(points))
    assert sum(p.seconds for p in few) == pytest.approx(sum(p.seconds for p in points))
    peaks = [max(p.figures[CPU].peak for p in each) for each in (few, points)]
    assert peaks[0] == peaks[1]
    assert few[-1].time == points[-1].time
    assert all(a.time < b.time for a, b in pairwise(few))
    assert condense(few, most) == few


@given(points)
def test_means_lie_below_peaks(points: list[Point]) -> None:
    figure = merge(points).figures[CPU]
    assert figure.mean <= figure.peak * (1 + 1e-9)


def test_points_of_one_moment_become_one() -> None:
    assert len(condense([make_point(1, 0.0, 2.0), make_point(1, 0.0, 4.0)], 1)) == 1
    assert merge([make_point(1, 0.0, 2.0), make_point(1, 0.0, 4.0)]).figures[CPU].mean == 3.0


def test_a_quantity_that_some_points_lack_is_told_of_the_others() -> None:
    other = Point(START, 10.0, {MEMORY: Figure(7, 9)})
    assert merge([other, make_point(1, 10, 2.0)]).figures == {
        MEMORY: Figure(7, 9),
        CPU: Figure(2.0, 2.0),
    }


def test_what_nobody_counts_is_no_figure() -> None:
    point = point_of(sample(10, written=500), None, START)
    assert point.figures == {WRITTEN: Figure(50, 50)}
    assert READ not in point.figures


def test_a_program_that_began_anew_counts_from_its_own_beginning() -> None:
    point = point_of(sample(4, cpu_s=2.0), Counters(100.0, 90.0), START)
    assert (point.seconds, point.figures[CPU].mean) == (4, 0.5)


def test_a_counter_that_fell_is_not_less_than_nothing() -> None:
    assert point_of(sample(20, cpu_s=5.0), Counters(10, 8.0), START).figures[CPU].mean == 0.0


def test_a_sample_of_no_time_has_no_rates() -> None:
    assert point_of(sample(0.0, cpu_s=5.0), None, START).figures == {}
