"""What a search has of its own, and what of the one that it goes on from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.names import TrainingJobName
from footplate.domain.studies.metrics import Goal, Metric
from footplate.domain.studies.parameters import CategoricalParameter, DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import Algorithm
from footplate.domain.tuning.resumption import differences, search_of
from footplate.domain.tuning.search import DEFAULT_TAG, SearchRequest, TrialCounts
from tests.support.searches import RMSE, SPACE, make_search

EARLIER = make_search(algorithm=Algorithm.RANDOM)
NAME = TrainingJobName("demo", "first")
BARE = SearchRequest(TrialCounts(30, 3), resumes=NAME)


def test_parameters_goal_and_tag_are_inherited_and_nothing_else() -> None:
    search = search_of(BARE, EARLIER)

    assert search.study.space == SPACE
    assert search.study.metrics == (RMSE,)
    assert search.study.algorithm is Algorithm.BAYESIAN
    assert search.counts == TrialCounts(30, 3)
    assert search.resumes == "projects/demo/jobs/first"


def test_a_new_search_has_the_defaults_of_the_api() -> None:
    search = search_of(SearchRequest(TrialCounts(), space=SPACE))

    assert search.study.metrics == (Metric(DEFAULT_TAG, Goal.MAXIMIZE),)
    assert not search.resumes


def test_there_must_be_parameters() -> None:
    with pytest.raises(ValueError, match="parameters"):
        search_of(SearchRequest(TrialCounts()))


def test_what_is_given_and_equal_is_fine() -> None:
    same = SearchRequest(TrialCounts(), SPACE, "rmse", Goal.MINIMIZE, resumes=NAME)

    assert list(differences(BARE, EARLIER)) == []
    assert list(differences(same, EARLIER)) == []


def test_what_is_given_and_different_is_refused_by_its_field() -> None:
    other = SearchSpace((DoubleParameter("other", 0.0, 1.0),))
    asked = SearchRequest(TrialCounts(), other, "loss", Goal.MAXIMIZE, resumes=NAME)

    found = {v.field.rpartition(".")[2]: v.description for v in differences(asked, EARLIER)}

    assert set(found) == {"goal", "hyperparameterMetricTag", "params"}
    assert "MAXIMIZE given; the resumed job has MINIMIZE" in found["goal"]
    assert "'loss' given; the resumed job has 'rmse'" in found["hyperparameterMetricTag"]
    assert "only the resumed job has the parameter 'batch'" in found["params"]


def test_changed_bounds_and_another_order_are_differences() -> None:
    wider = SearchSpace((DoubleParameter("learning_rate", 1e-5, 1.0), *SPACE.parameters[1:]))
    turned = SearchSpace(tuple(reversed(SPACE.parameters)))

    def told(space: SearchSpace) -> str:
        return next(differences(SearchRequest(TrialCounts(), space), EARLIER)).description

    assert "'learning_rate' differs from the resumed job's" in told(wider)
    assert "in another order" in told(turned)


REAL = SearchSpace((DoubleParameter("x", 0, 1),))
WIDE = SearchSpace((CategoricalParameter("c", tuple(map(str, range(10_001)))),))


@pytest.mark.parametrize(
    ("space", "algorithm", "said"),
    [(REAL, Algorithm.GRID, "without DOUBLE"), (WIDE, Algorithm.BAYESIAN, "10000 categorical")],
)
def test_the_algorithm_must_be_able_to_search_what_is_inherited(
    space: SearchSpace, algorithm: Algorithm, said: str
) -> None:
    earlier = make_search(space=space, algorithm=Algorithm.RANDOM)

    (violation,) = differences(replace(BARE, algorithm=algorithm), earlier)
    assert violation.field == "trainingInput.hyperparameters.algorithm"
    assert said in violation.description
    assert not list(differences(replace(BARE, algorithm=Algorithm.RANDOM), earlier))
