"""Points as rows and features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DoubleParameter,
    IntegerParameter,
)
from footplate.domain.studies.space import SearchSpace
from footplate.tuning.bayesian.candidates import Candidates
from footplate.tuning.encoding import Encoding
from footplate.tuning.gaussian.posterior import squared_distances
from footplate.tuning.sampling import draw, generator
from tests.unit.tuning.spaces import BRIEF, spaces

MOMENTUM = Branch(("sgd",), DoubleParameter("momentum", 0.0, 1.0))
OPTIMIZER = CategoricalParameter("optimizer", ("sgd", "adam"), branches=(MOMENTUM,))


@BRIEF
@given(spaces(), st.integers(0, 1000))
def test_points_survive_the_round_trip(space: SearchSpace, seed: int) -> None:
    encoding = Encoding(space)
    point = draw(space, generator(seed))
    again = encoding.point(encoding.row(point))
    assert space.has(again)
    assert encoding.row(again) == pytest.approx(encoding.row(point), nan_ok=True, abs=1e-4)
    assert {n: v for n, v in again.items() if isinstance(v, str)} == {
        n: v for n, v in point.items() if isinstance(v, str)
    }


@BRIEF
@given(spaces(), st.integers(0, 1000), st.booleans())
def test_candidates_are_points_of_the_space(space: SearchSpace, seed: int, near: bool) -> None:  # noqa: FBT001 - drawn
    encoding = Encoding(space)
    candidates = Candidates(encoding, generator(seed))
    rows = candidates.anywhere(8)
    for row in np.vstack([rows, candidates.around(rows, 16, near=near)]):
        point = encoding.point(row)
        assert space.has(point)
        assert encoding.row(point) == pytest.approx(row, nan_ok=True, abs=1e-4)


def test_values_side_by_side_in_a_huge_range_have_their_own_parameters_below_them() -> None:
    """Their positions differ by less than what rows tell apart."""
    below = Branch((1,), DoubleParameter("below", 0.0, 1.0))
    space = SearchSpace((IntegerParameter("whole", 0, 10**9 + 1, branches=(below,)),))
    encoding = Encoding(space)

    for whole in (0, 1, 2):
        position = encoding.axes[0].position(whole)
        for depends in (0.25, np.nan):
            point = encoding.point(np.array([position, depends]))
            assert point["whole"] == whole
            assert space.has(point)


def test_distances_mean_something() -> None:
    encoding = Encoding(SearchSpace((OPTIMIZER, DoubleParameter("x", 0.0, 10.0))))
    points: list[dict[str, float | str]] = [
        {"optimizer": "adam", "x": 0.0},
        {"optimizer": "adam", "x": 5.0},
        {"optimizer": "sgd", "momentum": 0.5, "x": 0.0},
        {"optimizer": "sgd", "momentum": 0.6, "x": 0.0},
        {"optimizer": "sgd", "momentum": 1.0, "x": 0.0},
    ]
    features = encoding.features(encoding.rows(points))
    squared = ((features[:, None] - features[None]) ** 2).sum(axis=2)
    assert squared[0, 1] == pytest.approx(0.25)  # half of the axis
    assert squared[0, 2] == pytest.approx(1.25)  # another category, and the inactive
    assert squared[0, 4] == pytest.approx(1.25)  # however the active is set
    assert squared[2, 3] == pytest.approx(0.01, rel=0.01)  # along the arc as on the line


@BRIEF
@given(spaces(), st.integers(0, 1000))
def test_slopes_are_those_of_the_features(space: SearchSpace, seed: int) -> None:
    encoding = Encoding(space)
    row = encoding.row(draw(space, generator(seed)))
    slopes = encoding.slopes(row)
    for j in np.flatnonzero(~encoding.categorical & ~np.isnan(row)):
        ends = np.vstack([row, row])
        ends[:, j] += (-1e-6, 1e-6)
        low, high = encoding.features(ends)
        own = encoding.owners == j
        assert (high - low)[own] / 2e-6 == pytest.approx(slopes[own], abs=1e-5)


def test_many_categories_take_few_columns_and_are_as_far_as_ever() -> None:
    kinds = CategoricalParameter("kind", tuple(map(str, range(10_000))))
    space = SearchSpace((kinds, DoubleParameter("x", 0.0, 1.0)))
    whole = Encoding(space)
    known = whole.rows([{"kind": kind, "x": 0.5} for kind in ("7", "7", "9999")])
    asked = whole.rows([{"kind": kind, "x": 0.1} for kind in ("7", "9999", "8", "9")])
    few = whole.around(known)
    assert len(few.owners) == 4
    distances = [
        squared_distances(encoding.features(asked), encoding.features(known))
        for encoding in (whole, few)
    ]
    assert distances[1] == pytest.approx(distances[0])
    assert Encoding(SearchSpace((OPTIMIZER,))).around(known).width == 2
