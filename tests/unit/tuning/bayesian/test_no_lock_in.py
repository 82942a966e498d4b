"""Each branch is tried again and again, whatever the model makes of the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
)
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.studies.study import Study
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.search import BayesianSearch
from footplate.tuning.branches import INITIAL_TRIALS, bound, branches
from footplate.tuning.designer import Reason
from tests.unit.tuning.bayesian.studies import empty, finished, with_finished, with_pending

Loss = Callable[[Point, int], float | None]

FEW = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow])
_FITTED = 5
"""From so many trials on a model is fitted, once: a fit takes longer than a suggestion."""


def family(widths: list[int]) -> CategoricalParameter:
    names = tuple(f"f{i}" for i in range(len(widths)))
    below = (
        Branch((name,), DoubleParameter(f"{name}x{i}", 0.0, 1.0))
        for name, width in zip(names, widths, strict=True)
        for i in range(width)
    )
    return CategoricalParameter("family", names, branches=tuple(below))


@st.composite
def branching(draw: st.DrawFn) -> SearchSpace:
    widths = draw(st.lists(st.integers(1, 3), min_size=2, max_size=3))
    others: list[list[Parameter]] = [
        [],
        [CategoricalParameter("scaler", ("none", "standard"))],
        [IntegerParameter("i", 0, 3), DoubleParameter("x", 1e-6, 1.0)],
    ]
    return SearchSpace((family(widths), *draw(st.sampled_from(others))))


def _first(point: Point) -> bool:
    return point["family"] == "f0"


def _noise(_: Point, number: int) -> float:
    return float(np.random.default_rng(number).standard_normal())


LOSSES: dict[str, Loss] = {
    "plateaus": lambda point, _: 0.0 if _first(point) else 1.0,
    "ties": lambda _, number: float(number % 2),
    "nan in a branch": lambda point, _: math.nan if _first(point) else len(point),
    "failures in a branch": lambda point, number: None if _first(point) else 1.0 / (number + 1),
    "failures everywhere": lambda _, __: None,
    "noise": _noise,
    "equal": lambda _, __: 0.5,
    "always better in one branch": lambda point, number: -number if _first(point) else 1e300,
    "infinite": lambda point, _: -math.inf if _first(point) else math.inf,
}


def searched(study: Study, loss: Loss, trials: int, parallel: int, seed: int) -> Study:
    """``parallel`` trials run at once; they end in the order in which they began."""
    model = None
    while len(study.trials) < trials:
        if model is None and len(study.finished) >= _FITTED:
            model = refit(study)
        wanted = parallel - len(study.pending)
        for suggestion in BayesianSearch(model).suggest(study, wanted, seed).suggestions:
            study = with_pending(study, suggestion.point)
        first = study.pending[0]
        ended = finished(first.number, first.point, loss(first.point, first.number))
        study = replace(study, trials=tuple(ended if t is first else t for t in study.trials))
    return study


def assert_bounded(space: SearchSpace, points: list[Point]) -> None:
    for branch in branches(space):
        gap = 0
        for point in points:
            gap = 0 if branch.has(point) else gap + 1
            assert gap < bound(space), str(branch)


@FEW
@given(st.sampled_from(sorted(LOSSES)), branching(), st.integers(0, 2**31))
def test_each_branch_is_tried_within_the_bound(name: str, space: SearchSpace, seed: int) -> None:
    study = searched(empty(space), LOSSES[name], bound(space) + 4, 1, seed)
    points = [trial.point for trial in study.trials]
    assert_bounded(space, points)
    first = points[: len(branches(space)) + INITIAL_TRIALS]
    assert all(any(map(branch.has, first)) for branch in branches(space))


@pytest.mark.parametrize(("name", "parallel"), [("plateaus", 4), ("failures in a branch", 16)])
def test_trials_that_run_count_too(name: str, parallel: int) -> None:
    space = SearchSpace((family([1, 3]), CategoricalParameter("scaler", ("none", "standard"))))
    study = searched(empty(space), LOSSES[name], bound(space) + 8, parallel, 5)
    assert_bounded(space, [trial.point for trial in study.trials])


def test_a_search_that_goes_on_remembers_what_was_neglected() -> None:
    space = SearchSpace((family([1, 2, 2]),))
    earlier = empty(space)
    for number in range(30):
        earlier = with_finished(earlier, {"family": "f0", "f0x0": number / 30}, -float(number))
    resumed = replace(empty(space), earlier=(earlier,))
    first, second = BayesianSearch().suggest(resumed, 2, seed=1).suggestions
    assert [first.point["family"], second.point["family"]] == ["f1", "f2"]
    assert first.why.reason is Reason.EXPLORE
    assert first.why.sentence.startswith(
        "explores: branch `f1` was not tried in the first 30 trials; expects loss between "
    )
    resumed = searched(resumed, LOSSES["plateaus"], bound(space), 1, 1)
    assert_bounded(space, [trial.point for one in (earlier, resumed) for trial in one.trials][30:])


def test_what_has_no_model_yet_explores_too() -> None:
    space = SearchSpace((family([1, 1]),))
    study = empty(space)
    for _ in range(20):
        study = with_finished(study, {"family": "f0", "f0x0": 0.5}, None)
    (suggestion,) = BayesianSearch().suggest(study, 1, seed=0).suggestions
    sentence = (
        "explores: branch `f1` was not tried in the first 20 trials; too few trials have ended "
        "for a model"
    )
    assert suggestion.why.sentence == sentence
    assert suggestion.point["family"] == "f1"
