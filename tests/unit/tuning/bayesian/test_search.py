"""The Bayesian designer."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.metrics import Goal, Metric
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
)
from footplate.domain.studies.space import Point, SearchSpace, key
from footplate.domain.studies.study import Noise
from footplate.tuning.bayesian.model import model_from_record
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.search import BayesianSearch
from footplate.tuning.designer import Reason
from tests.unit.tuning.bayesian.studies import (
    LOSS,
    best_loss,
    empty,
    finished,
    search,
    with_finished,
    with_pending,
)
from tests.unit.tuning.spaces import BRIEF, spaces

PLANE = SearchSpace((DoubleParameter("x", 0.0, 1.0), DoubleParameter("z", 0.0, 1.0)))
SMALL = SearchSpace((IntegerParameter("i", 0, 4), CategoricalParameter("c", ("a", "b", "c"))))


def bowl(point: Point) -> float:
    return (float(point["x"]) - 0.3) ** 2 + (float(point["z"]) - 0.8) ** 2


@BRIEF
@given(
    spaces(),
    st.integers(0, 2**63),
    st.lists(st.floats() | st.none(), min_size=1, max_size=10),
    st.integers(0, 3),
)
def test_suggestions_are_points_of_the_space_whatever_the_values(
    space: SearchSpace, seed: int, losses: list[float | None], pending: int
) -> None:
    study = empty(space)
    for loss in losses:
        batch = BayesianSearch().suggest(study, 1, seed)
        for suggestion in batch.suggestions:
            study = with_finished(study, suggestion.point, loss)
    for _ in range(pending):
        for suggestion in BayesianSearch().suggest(study, 1, seed).suggestions:
            study = with_pending(study, suggestion.point)
    points = [trial.point for trial in study.trials]
    assert all(space.has(point) for point in points)
    if space.size is not None:
        assert len({key(point) for point in points}) == len(points)


def test_it_finds_the_lowest_point() -> None:
    study, _ = search(empty(PLANE), bowl, 25)
    assert best_loss(study) < 1e-4


def test_it_finds_the_highest_where_that_is_the_goal() -> None:
    study = empty(PLANE, metric=Metric("loss", Goal.MAXIMIZE))
    study, _ = search(study, lambda point: -bowl(point), 25)
    assert max(t.value(study.config.metrics[0]) or -9.0 for t in study.trials) > -1e-4


def test_the_first_point_is_the_centre_or_the_defaults() -> None:
    first = BayesianSearch().suggest(empty(PLANE), 1, seed=5).suggestions[0]
    assert first.point == {"x": 0.5, "z": 0.5}
    assert first.why.reason is Reason.INITIAL
    given_ = SearchSpace((DoubleParameter("x", 0.0, 1.0, default=0.9), *PLANE.parameters[1:]))
    assert BayesianSearch().suggest(empty(given_), 1, seed=5).suggestions[0].point == {
        "x": 0.9,
        "z": 0.5,
    }


def test_a_suggestion_replays_from_the_stored_model_the_trials_and_the_seed() -> None:
    study, model = search(empty(PLANE), bowl, 14, seed=3)
    assert model is not None
    study = with_pending(study, {"x": 0.1, "z": 0.1})
    once = BayesianSearch(model).suggest(study, 3, seed=3)
    stored = model_from_record(json.loads(json.dumps(model.to_record())))
    shuffled = replace(study, trials=tuple(reversed(study.trials)))
    assert BayesianSearch(stored).suggest(shuffled, 3, seed=3) == once
    assert BayesianSearch(stored).suggest(study, 3, seed=4) != once


def test_one_at_a_time_or_all_at_once_gives_the_same_points() -> None:
    study, model = search(empty(PLANE), bowl, 12)
    at_once = BayesianSearch(model).suggest(study, 3, seed=0).suggestions
    for suggestion in at_once:
        assert BayesianSearch(model).suggest(study, 1, seed=0).suggestions[0] == suggestion
        study = with_pending(study, suggestion.point)


def test_an_older_model_takes_the_new_trials_into_account() -> None:
    study, model = search(empty(PLANE), bowl, 12)
    before = BayesianSearch(model).suggest(study, 1, seed=0).suggestions[0].point
    study = with_finished(study, before, 5.0)
    after = BayesianSearch(model).suggest(study, 1, seed=0).suggestions[0].point
    assert math.dist([float(v) for v in before.values()], [float(v) for v in after.values()]) > 0.02


def test_pending_trials_spread_a_batch() -> None:
    def waves(point: Point) -> float:
        return math.sin(9 * float(point["x"])) * math.cos(7 * float(point["z"]))

    study, model = search(empty(PLANE), waves, 8)
    batch = BayesianSearch(model).suggest(study, 6, seed=0)
    points = np.array([[float(v) for v in s.point.values()] for s in batch.suggestions])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2) + np.eye(6)
    assert apart.min() > 0.02


@pytest.mark.parametrize("seed", range(3))
def test_a_finite_space_is_tried_whole_and_it_says_so(seed: int) -> None:
    study, _ = search(empty(SMALL), lambda point: float(point["i"]), 15, seed)
    assert len({key(trial.point) for trial in study.trials}) == 15
    batch = BayesianSearch().suggest(study, 1, seed)
    assert not batch.suggestions
    assert batch.exhausted == "the study has tried all 15 points of the search space"


def test_the_rest_of_a_finite_space_is_handed_out_at_once() -> None:
    study, model = search(empty(SMALL), lambda point: float(point["i"]), 12)
    batch = BayesianSearch(model).suggest(study, 5, seed=0)
    assert len({key(s.point) for s in batch.suggestions}) == 3
    assert batch.exhausted


def test_a_noisy_study_may_try_a_point_again() -> None:
    space = SearchSpace((CategoricalParameter("c", ("a", "b")),))
    study = empty(space, noise=Noise.HIGH)
    study, _ = search(study, lambda point: float(point["c"] == "a"), 12)
    chosen = [trial.point["c"] for trial in study.trials]
    assert len(chosen) == 12
    assert chosen.count("b") > chosen.count("a")


def test_it_keeps_away_from_where_trials_fail() -> None:
    def fails(point: Point) -> bool:
        return float(point["x"]) > 0.5

    study, _ = search(empty(PLANE), lambda p: None if fails(p) else bowl(p), 30)
    assert sum(fails(trial.point) for trial in study.trials[10:]) <= 5
    assert best_loss(study) < 1e-3


def test_the_best_may_lie_next_to_where_trials_fail() -> None:
    def loss(point: Point) -> float | None:
        return None if float(point["x"]) > 0.5 else -float(point["x"])

    study, _ = search(empty(PLANE), loss, 25)
    assert best_loss(study) < -0.49


@pytest.mark.parametrize("loss", [None, math.nan, math.inf])
def test_where_every_trial_fails_it_goes_on_looking(loss: float | None) -> None:
    study, model = search(empty(PLANE), lambda _: loss, 30)
    assert model is None
    assert len({key(trial.point) for trial in study.trials}) == 30


def test_a_constant_metric_is_no_trouble() -> None:
    study, _ = search(empty(PLANE), lambda _: 0.5, 15)
    assert len({key(trial.point) for trial in study.trials}) == 15


def test_a_thousand_trials_and_more_are_no_trouble() -> None:
    rng = np.random.default_rng(0)
    study = empty(PLANE)
    points = [{"x": float(x), "z": float(z)} for x, z in rng.random((1100, 2))]
    trials = tuple(finished(i + 1, point, bowl(point)) for i, point in enumerate(points))
    study = replace(study, trials=trials)
    model = refit(replace(study, trials=trials[:40]))
    batch = BayesianSearch(model).suggest(study, 1, seed=0)
    assert bowl(batch.suggestions[0].point) < 0.05


def test_one_trial_is_not_enough_for_a_model() -> None:
    study = with_finished(empty(PLANE), {"x": 0.5, "z": 0.5}, 1.0)
    assert refit(study) is None
    assert BayesianSearch().suggest(study, 1, seed=0).suggestions[0].why.reason is Reason.INITIAL


def test_trials_outside_of_the_space_are_passed_over() -> None:
    study = empty(PLANE)
    for _ in range(12):
        study = with_finished(study, {"x": 7.0, "other": "nonsense"}, 1.0)
    study, _ = search(study, bowl, 20)
    assert best_loss(study) < 1e-2


def test_a_suggestion_says_why() -> None:
    study, model = search(empty(PLANE), bowl, 24)
    why = BayesianSearch(model).suggest(study, 1, seed=0).suggestions[0].why
    (prediction,) = why.predictions
    assert prediction.metric == "loss"
    assert prediction.low <= prediction.value <= prediction.high
    assert why.reason in (Reason.EXPLORE, Reason.EXPLOIT)
    assert why.sentence.startswith(f"{why.reason.value}s: expects loss between ")
    assert why.distance is not None
    assert 0.0 <= why.distance <= 1.0


def test_predictions_are_in_the_metrics_own_unit() -> None:
    space = SearchSpace((DoubleParameter("x", 0.0, 1.0),))
    up = Metric("loss", Goal.MAXIMIZE)

    def accuracy(point: Point) -> float:
        return 90.0 - 20.0 * abs(float(point["x"]) - 0.4)

    study, model = search(empty(space, metric=up), accuracy, 15)
    suggestion = BayesianSearch(model).suggest(study, 1, seed=0).suggestions[0]
    expected = suggestion.why.predictions[0]
    assert expected.low <= expected.value <= expected.high
    assert expected.value == pytest.approx(accuracy(suggestion.point), abs=0.5)


def test_a_model_of_another_space_is_not_used() -> None:
    _, model = search(empty(PLANE), bowl, 8)
    other = SearchSpace((DiscreteParameter("d", (1.0, 2.0, 3.0, 4.0, 5.0)),))
    elsewhere, _ = search(empty(other), lambda point: float(point["d"]), 4)
    assert BayesianSearch(model).suggest(elsewhere, 1, seed=0).suggestions
    assert refit(elsewhere, model) == refit(elsewhere)


def test_a_study_of_the_same_space_is_gone_on_with() -> None:
    before, _ = search(empty(PLANE), bowl, 9)
    resumed = replace(empty(PLANE), earlier=(before,))
    first = BayesianSearch().suggest(resumed, 1, seed=9).suggestions[0]
    assert first.why.reason is not Reason.INITIAL
    assert bowl(first.point) < 0.1
    assert key(first.point) not in {key(trial.point) for trial in before.trials}


def test_losses_are_told_by_the_metric_of_the_study() -> None:
    assert LOSS.loss(3.0) == 3.0
    assert Metric("loss").loss(3.0) == -3.0


def test_the_best_trial_of_an_earlier_search_is_not_taken_for_an_own_one() -> None:
    """Both have a trial 1."""
    space = SearchSpace((DoubleParameter("x", 0, 1),))
    earlier, _ = search(empty(space), lambda point: float(point["x"]), 6)
    resumed = replace(empty(space), earlier=(earlier,))
    resumed = with_finished(resumed, {"x": 0.9}, 0.9)
    (suggestion,) = BayesianSearch().suggest(resumed, 1, seed=0).suggestions
    assert "of an earlier search, the best so far with" in suggestion.why.sentence
    better = with_finished(resumed, {"x": 0.05}, -9.0)
    (suggestion,) = BayesianSearch().suggest(better, 1, seed=0).suggestions
    assert "away from trial 2, the best so far with -9" in suggestion.why.sentence


def test_a_search_that_goes_on_does_not_begin_in_the_middle_again() -> None:
    space = SearchSpace((DoubleParameter("x", 0, 1),))
    earlier = with_finished(empty(space), {"x": 0.5}, 0.5)
    (suggestion,) = (
        BayesianSearch().suggest(replace(empty(space), earlier=(earlier,)), 1, seed=0).suggestions
    )
    assert suggestion.point != {"x": 0.5}
    assert "middle" not in suggestion.why.sentence
