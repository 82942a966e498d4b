"""Grid and random search."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import Point, SearchSpace, key
from footplate.domain.studies.study import Noise, Study, StudyConfig
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.designer_selection import GridSearch, RandomSearch
from tests.unit.tuning.spaces import BRIEF, spaces

SMALL = SearchSpace((IntegerParameter("i", 0, 3), CategoricalParameter("c", ("a", "b"))))


def study(space: SearchSpace, *points: Point, noise: Noise = Noise.LOW) -> Study:
    trials = tuple(Trial(i + 1, point, TrialState.ACTIVE) for i, point in enumerate(points))
    return Study(StudyConfig(space, (Metric("m"),), noise=noise), trials)


def test_the_grid_goes_on_where_it_was_and_ends() -> None:
    points = [SMALL.point_at(i) for i in range(8)]
    batch = GridSearch().suggest(study(SMALL, points[1], {"i": "nonsense"}), 3, seed=0)
    assert [s.point for s in batch.suggestions] == [points[0], points[2], points[3]]
    assert batch.suggestions[1].why.sentence == "point 3 of the 8 points of the grid"
    assert not batch.exhausted
    rest = GridSearch().suggest(study(SMALL, *points[:7]), 3, seed=0)
    assert [s.point for s in rest.suggestions] == [points[7]]
    assert rest.exhausted == "the study has tried all 8 points of the search space"


def test_a_grid_has_no_range_of_real_numbers() -> None:
    with pytest.raises(ValueError, match="grid search takes"):
        GridSearch().suggest(study(SearchSpace((DoubleParameter("x", 0, 1),))), 1, seed=0)


@BRIEF
@given(spaces(), st.integers(0, 2**63), st.integers(1, 5))
def test_random_points_lie_in_the_space_and_differ(space: SearchSpace, seed: int, n: int) -> None:
    batch = RandomSearch().suggest(study(space), n, seed)
    points = [s.point for s in batch.suggestions]
    assert all(space.has(point) for point in points)
    assert bool(batch.exhausted) == (len(points) < n)
    if space.size is not None:
        assert len({key(p) for p in points}) == min(n, space.size)
    assert RandomSearch().suggest(study(space), n, seed) == batch


@BRIEF
@given(spaces(), st.integers(0, 1000), st.integers(1, 5))
def test_one_at_a_time_or_all_at_once_gives_the_same_points(
    space: SearchSpace, seed: int, n: int
) -> None:
    at_once = RandomSearch().suggest(study(space), n, seed)
    points: list[Point] = []
    for _ in range(n):
        points += [
            s.point for s in RandomSearch().suggest(study(space, *points), 1, seed).suggestions
        ]
    assert points == [s.point for s in at_once.suggestions]


@BRIEF
@given(spaces(finite=True), st.integers(0, 1000))
def test_random_search_tries_all_of_a_finite_space_and_says_so(
    space: SearchSpace, seed: int
) -> None:
    assume(space.size is not None and space.size <= 60)
    size = space.size or 0
    batch = RandomSearch().suggest(study(space), size + 1, seed)
    assert len(batch.suggestions) == size
    assert batch.exhausted


def test_noisy_studies_start_over() -> None:
    every = [SMALL.point_at(i) for i in range(8)]
    noisy = RandomSearch().suggest(study(SMALL, *every, noise=Noise.HIGH), 2, seed=3)
    assert len(noisy.suggestions) == 2
    assert not noisy.exhausted


def test_points_of_an_earlier_study_of_the_same_space_are_not_run_again() -> None:
    every = [SMALL.point_at(i) for i in range(8)]
    resumed = replace(study(SMALL, *every[:3]), earlier=(study(SMALL, *every[3:7]),))
    batch = RandomSearch().suggest(resumed, 2, seed=0)
    assert [s.point for s in batch.suggestions] == [every[7]]


def test_log_scales_are_respected() -> None:
    space = SearchSpace((DoubleParameter("x", 1e-6, 1.0, Scale.LOG),))
    batch = RandomSearch().suggest(study(space), 400, seed=1)
    small = sum(float(s.point["x"]) < 1e-3 for s in batch.suggestions)
    assert 150 < small < 250


def test_another_seed_gives_other_points() -> None:
    space = SearchSpace((DoubleParameter("x", 0.0, 1.0),))
    one, other = (RandomSearch().suggest(study(space), 1, seed=s) for s in (0, 1))
    assert one.suggestions[0].point != other.suggestions[0].point


def test_a_grid_of_more_points_than_can_be_written_down() -> None:
    wide = SearchSpace(tuple(IntegerParameter(f"i{n}", -(2**63), 2**63 - 1) for n in range(1000)))
    first, second = GridSearch().suggest(study(wide), 2, seed=0).suggestions
    assert first.point == wide.point_at(0)
    assert second.point["i999"] == 1 - 2**63
    assert second.why.sentence == "point 2 of the about 10^19266 points of the grid"


def test_the_only_point() -> None:
    one = SearchSpace((IntegerParameter("i", 3, 3),))
    assert RandomSearch().suggest(study(one, {"i": 3}), 1, seed=0).exhausted == (
        "the study has tried the only point of the search space"
    )
