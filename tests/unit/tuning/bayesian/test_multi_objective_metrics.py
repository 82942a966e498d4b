"""Studies of several metrics: the whole front is looked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import DoubleParameter
from footplate.domain.studies.ranking import pareto_optimal
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.studies.study import Study, StudyConfig
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.search import BayesianSearch
from footplate.tuning.designer_selection import RandomSearch

METRICS = (Metric("cost", Goal.MINIMIZE), Metric("gain", Goal.MAXIMIZE))
SPACE = SearchSpace(tuple(DoubleParameter(f"x{i}", 0.0, 1.0) for i in range(6)))


def values(point: Point) -> dict[str, float]:
    """Along x0 gain is paid for by cost; the others should be a half."""
    waste = sum((float(point[f"x{i}"]) - 0.5) ** 2 for i in range(1, 6))
    x = float(point["x0"])
    return {"cost": x**2 + waste, "gain": 1.0 - (1.0 - x) ** 2 - waste}


def run(trials: int, *, random: bool = False) -> Study:
    study, model = Study(StudyConfig(SPACE, METRICS)), None
    for number in range(1, trials + 1):
        designer = RandomSearch() if random else BayesianSearch(model)
        point = designer.suggest(study, 1, seed=0).suggestions[0].point
        final = Measurement(values(point))
        done = Trial(number, point, TrialState.SUCCEEDED, (final,), final)
        study = replace(study, trials=(*study.trials, done))
        model = refit(study, model)
    return study


def covered(study: Study) -> float:
    """The area that the optimal trials dominate, below cost 1 and above gain 0."""
    found = [t.values(METRICS) or (1.0, 0.0) for t in pareto_optimal(study.trials, METRICS)]
    area, reached = 0.0, 0.0
    for cost, gain in sorted(found):
        if cost < 1.0 and gain > reached:
            area += (1.0 - cost) * (gain - reached)
            reached = gain
    return area


def test_it_finds_more_of_the_front_than_random_search() -> None:
    best_possible = 5.0 / 6.0  # the integral of (1 - x^2) 2 (1 - x)
    found = covered(run(40))
    assert found > covered(run(40, random=True)) + 0.1
    assert found > 0.75 * best_possible


def test_it_predicts_each_metric_and_replays() -> None:
    study = run(14)
    model = refit(study)
    batch = BayesianSearch(model).suggest(study, 2, seed=1)
    why = batch.suggestions[0].why
    assert [p.metric for p in why.predictions] == ["cost", "gain"]
    assert " and gain between " in why.sentence
    assert why.sentence.endswith(", the nearest of the best trials")
    assert BayesianSearch(model).suggest(study, 2, seed=1) == batch


@pytest.mark.parametrize("missing", ["cost", "gain"])
def test_a_trial_without_one_of_the_metrics_has_failed(missing: str) -> None:
    study = run(12)
    final = Measurement({name: 0.5 for name in ("cost", "gain") if name != missing})
    done = Trial(13, dict.fromkeys(SPACE.names, 0.9), TrialState.SUCCEEDED, (final,), final)
    study = replace(study, trials=(*study.trials, done))
    model = refit(study)
    assert model is not None
    assert model.feasibility is not None
    assert BayesianSearch(model).suggest(study, 1, seed=0).suggestions
