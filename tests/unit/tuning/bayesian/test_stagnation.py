"""When a search looks elsewhere."""

from __future__ import annotations

import numpy as np

from footplate.domain.studies.parameters import DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.search import BayesianSearch, reason_to_explore
from footplate.tuning.designer import Reason
from tests.unit.tuning.bayesian.studies import empty, with_finished

BETTER_AND_BETTER = np.arange(20.0, 0.0, -1.0)[:, None]
STUCK = np.ones((9, 1))


def test_it_explores_after_eight_trials_that_are_no_better() -> None:
    assert reason_to_explore(STUCK, 9) == "none of the last 8 trials was better"
    assert reason_to_explore(STUCK[:8], 9) == ""
    assert reason_to_explore(BETTER_AND_BETTER, 21) == ""


def test_it_explores_with_every_third_trial() -> None:
    assert [bool(reason_to_explore(STUCK, number)) for number in (9, 10, 11, 12)] == [
        True,
        False,
        False,
        True,
    ]


def test_several_metrics_do_not_stagnate() -> None:
    assert reason_to_explore(np.ones((30, 2)), 30) == ""


def test_a_suggestion_says_so() -> None:
    study = empty(SearchSpace((DoubleParameter("x", 0.0, 1.0),)))
    for number in range(12):
        study = with_finished(study, {"x": number / 12}, float(number))
    (suggestion,) = BayesianSearch(refit(study)).suggest(study, 1, seed=0).suggestions
    assert suggestion.why.reason is Reason.EXPLORE
    assert suggestion.why.sentence.startswith(
        "explores: none of the last 11 trials was better; expects loss between "
    )
