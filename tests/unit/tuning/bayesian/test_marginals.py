"""What the values of good trials have in common, each by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.parameters import Branch, CategoricalParameter, DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.tuning.bayesian.plateaus import Marginals, weight
from footplate.tuning.encoding import Encoding
from footplate.tuning.sampling import generator
from tests.unit.tuning.spaces import BRIEF, spaces

KINDS = CategoricalParameter("kind", ("a", "b", "c"))
MIXED = SearchSpace((DoubleParameter("x", 0.0, 1.0), KINDS))
BELOW = Branch(("b",), DoubleParameter("y", 0.0, 1.0))
BRANCHING = SearchSpace((CategoricalParameter("kind", ("a", "b"), branches=(BELOW,)),))


def test_good_values_are_worth_more_than_bad_ones_and_corners() -> None:
    encoding, rng = Encoding(MIXED), generator(0)
    rows = encoding.draw(rng.random((60, 2)))
    losses = (rows[:, 0] - 0.3) ** 2 + (rows[:, 1] != 1.0)
    marginals = Marginals(encoding, rows, losses, rows[:0], 1.0)
    worth = marginals.worth(np.array([[0.3, 1.0], [0.3, 0.0], [0.9, 1.0], [1.0, 2.0]]))
    assert worth[0] > max(worth[1], worth[2])
    assert worth[3] < min(worth[1], worth[2])


def test_what_failed_is_bad() -> None:
    encoding, rng = Encoding(MIXED), generator(1)
    rows = encoding.draw(rng.random((60, 2)))
    failed = np.column_stack([np.linspace(0.8, 1.0, 30), np.zeros(30)])
    at = np.array([[0.9, 0.0]])
    losses = rng.random(60)
    without = Marginals(encoding, rows, losses, rows[:0], 1.0).worth(at)
    assert Marginals(encoding, rows, losses, failed, 1.0).worth(at)[0] < without[0]


@pytest.mark.parametrize(
    ("count", "share"), [(3, 0.0), (10, 0.0), (20, 0.5), (30, 1.0), (900, 1.0)]
)
def test_few_trials_say_nothing_yet(count: int, share: float) -> None:
    assert weight(Encoding(MIXED), count, 7, tied=True) == pytest.approx(share)
    assert weight(Encoding(MIXED), count, 7, tied=False) == 0.0


@pytest.mark.parametrize(
    ("count", "share"), [(10, 0.0), (30, 1.0), (50, 1.0), (60, 0.5), (70, 0.0), (900, 0.0)]
)
def test_where_parameters_depend_on_others_they_fade(count: int, share: float) -> None:
    assert weight(Encoding(BRANCHING), count, 0, tied=True) == pytest.approx(share)
    assert weight(Encoding(BRANCHING), count, 1, tied=True) == 0.0


def test_of_what_others_depend_on_they_say_nothing() -> None:
    """All good trials are of one branch: that says something of what is in it alone."""
    encoding, rng = Encoding(BRANCHING), generator(2)
    rows = encoding.draw(rng.random((60, 2)))
    losses = np.nan_to_num(rows[:, 1], nan=9.0)
    marginals = Marginals(encoding, rows, losses, rows[:0], 1.0)
    other, good, bad = marginals.worth(np.array([[0.0, np.nan], [1.0, 0.05], [1.0, 0.95]]))
    assert bad < other == 0.0 < good


@BRIEF
@given(spaces(), st.integers(3, 50), st.integers(0, 1000))
def test_every_row_has_a_finite_worth(space: SearchSpace, count: int, seed: int) -> None:
    encoding, rng = Encoding(space), generator(seed)
    rows = encoding.draw(rng.random((count, encoding.width)))
    losses = rng.integers(3, size=count).astype(np.float64)
    marginals = Marginals(encoding, rows, losses, rows[:1], 0.7)
    assert np.isfinite(marginals.worth(encoding.draw(rng.random((20, encoding.width))))).all()
