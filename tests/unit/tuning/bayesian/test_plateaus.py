"""Where trials would end like others, to the last digit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.parameters import DoubleParameter, IntegerParameter
from footplate.domain.studies.space import SearchSpace
from footplate.tuning.bayesian.plateaus import Plateaus, sharpness
from footplate.tuning.encoding import Encoding
from footplate.tuning.sampling import generator
from tests.unit.tuning.spaces import BRIEF, spaces

CUBE = SearchSpace((DoubleParameter("x", 0.0, 1.0), DoubleParameter("idle", 0.0, 1.0)))


def test_changes_that_do_not_matter_are_learned_from_ties() -> None:
    encoding, rng = Encoding(CUBE), generator(0)
    rows = rng.random((80, 2))
    losses = np.floor(rows[:, 0] * 10)  # ten plateaus
    sharp = sharpness(encoding, rows, losses)
    assert sharp is not None
    assert sharp[0] > 5 * sharp[1]
    ties = Plateaus(encoding, sharp, np.array([[0.25, 0.5]]), np.zeros(1), rows[:0])
    same, idle, other = ties.worth(np.array([[0.25, 0.5], [0.25, 0.9], [0.75, 0.5]]))
    assert same <= idle < other - 2.0
    assert other <= 0.0


def test_without_equal_ends_there_is_nothing_to_avoid() -> None:
    encoding, rng = Encoding(CUBE), generator(1)
    rows = rng.random((50, 2))
    assert sharpness(encoding, rows, rng.random(50)) is None
    ties = Plateaus(encoding, None, rows, np.zeros(50), rows[:0])
    assert not ties.worth(rows).any()


def test_bad_trials_that_end_alike_say_nothing_of_good_ones() -> None:
    """As where half of a space cannot learn at all."""
    encoding, rng = Encoding(CUBE), generator(2)
    rows = rng.random((50, 2))
    losses = np.where(rows[:, 0] < np.median(rows[:, 0]), rows[:, 1], 9.0)
    assert sharpness(encoding, rows, losses) is None


def test_running_trials_may_end_like_a_row_too() -> None:
    encoding = Encoding(CUBE)
    known, pending = np.array([[0.1, 0.1]]), np.array([[0.8, 0.8]])
    ties = Plateaus(encoding, (30.0, 30.0), known, np.zeros(1), pending)
    near, far = ties.worth(np.array([[0.8, 0.8], [0.5, 0.2]]))
    assert near < far - 2.0


@BRIEF
@given(spaces(), st.integers(3, 120), st.integers(0, 1000))
def test_every_row_has_a_finite_worth(space: SearchSpace, count: int, seed: int) -> None:
    encoding, rng = Encoding(space), generator(seed)
    rows = encoding.draw(rng.random((count, encoding.width)))
    losses = rng.integers(4, size=count).astype(np.float64)
    ties = Plateaus(encoding, sharpness(encoding, rows, losses), rows, losses, rows[:1])
    worth = ties.worth(encoding.draw(rng.random((20, encoding.width))))
    assert np.isfinite(worth).all()
    assert (worth <= 0.0).all()


def test_whole_numbers_count_by_their_place() -> None:
    space = SearchSpace((IntegerParameter("n", 1, 9),))
    encoding = Encoding(space)
    rows = encoding.rows([{"n": n} for n in (1, 3, 5, 7, 9)])
    ties = Plateaus(encoding, (20.0,), rows[:1], np.zeros(1), rows[:0])
    worth = ties.worth(rows)
    assert (np.diff(worth) >= 0.0).all()
