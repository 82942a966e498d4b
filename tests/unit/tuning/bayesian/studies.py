"""Studies for tests: some trials of a loss."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.study import Noise, Study, StudyConfig
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.bayesian.model import newest, wanted
from footplate.tuning.bayesian.model_fit import refit
from footplate.tuning.bayesian.search import BayesianSearch

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.studies.space import Point, SearchSpace
    from footplate.tuning.bayesian.model import Model

LOSS = Metric("loss", Goal.MINIMIZE)


def empty(space: SearchSpace, *, noise: Noise = Noise.LOW, metric: Metric = LOSS) -> Study:
    return Study(StudyConfig(space, (metric,), noise=noise))


def finished(number: int, point: Point, loss: float | None) -> Trial:
    """None: it failed."""
    if loss is None:
        return Trial(number, point, TrialState.INFEASIBLE)
    final = Measurement({"loss": loss})
    return Trial(number, point, TrialState.SUCCEEDED, (final,), final)


def with_finished(study: Study, point: Point, loss: float | None) -> Study:
    return replace(study, trials=(*study.trials, finished(len(study.trials) + 1, point, loss)))


def with_pending(study: Study, point: Point) -> Study:
    trial = Trial(len(study.trials) + 1, point, TrialState.ACTIVE)
    return replace(study, trials=(*study.trials, trial))


def search(
    study: Study, loss: Callable[[Point], float | None], trials: int, seed: int = 0
) -> tuple[Study, Model | None]:
    """One after the other, as the service does it. Ends early where all points have been tried.

    The model is the newest one of the chain.
    """
    models = {0: refit(study)}
    for ended in range(trials):
        batch = BayesianSearch(models[wanted(ended)]).suggest(study, 1, seed)
        if not batch.suggestions:
            break
        point = batch.suggestions[0].point
        study = with_finished(study, point, loss(point))
        if newest(ended + 1) not in models:
            models[ended + 1] = refit(study, models[newest(ended)])
    return study, models[max(models)]


def best_loss(study: Study) -> float:
    return min(v for t in study.trials if (v := t.value(study.config.metrics[0])) is not None)
