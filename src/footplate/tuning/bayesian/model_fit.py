"""Fits models, and fits them again; models of earlier studies are stacked on each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from footplate.domain.studies.study import Noise, Study
from footplate.tuning.bayesian.candidate_value import labels
from footplate.tuning.bayesian.model import VERSION, Model, begins_anew
from footplate.tuning.bayesian.observations import finished_count, observe
from footplate.tuning.bayesian.plateaus import sharpness
from footplate.tuning.bayesian.prior import Prior, unrelated_studies
from footplate.tuning.bayesian.surrogate import Surrogate, Warp, belief
from footplate.tuning.encoding import Encoding
from footplate.tuning.gaussian.fitting import Beliefs, Evidence, Hyperparameters, fit

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

MIN_VALUES = 3
"""Fewer don't make a model."""
_SEARCH_AGAIN = 1.25
_LONG, _SHORT = 60, 20
_FEW = 60
_SAMPLE = 300
"""What begins anew looks far and wide at so many rows, and then near by at all."""
_ITERATIONS = 60


def fits(study: Study, model: Model) -> bool:
    """Returns whether the model suits the study's slots, metrics and earlier studies."""
    slots, metrics = len(study.config.space.slots), len(study.config.metrics)
    shaped = all(len(output.lengths) == slots for output in model.outputs)
    shaped = shaped and (model.sharpness is None or len(model.sharpness) == slots)
    whole = len(model.outputs) in (0, metrics) and len(model.earlier) == metrics
    return model.version == VERSION and whole and shaped and stacks(study, model)


def refit(study: Study, model: Model | None = None) -> Model | None:
    """Fits the model again; None: too few trials have values, and no earlier study informs it.

    The fit begins at the parameters of ``model``, and searches widely again once there are a
    quarter more trials. When there are so many trials that ``begins_anew`` holds, it uses only the
    results for earlier studies of ``model``.
    """
    encoding = Encoding(study.config.space)
    seen = observe(study, encoding)
    finished = finished_count(study)
    old = model if model is not None and fits(study, model) else None
    earlier = old.earlier if old else _earlier(study)
    if len(seen.rows) < MIN_VALUES:
        return Model(finished, 0, (), None, earlier) if any(earlier) else None
    old = old if old and old.outputs and not begins_anew(finished) else None
    wide = old is None or finished >= _SEARCH_AGAIN * old.searched
    fitting = _Fitting(encoding, noisy=study.config.noise is Noise.HIGH, wide=wide)
    outputs = []
    for place, before in enumerate(old.outputs if old else [None] * len(study.config.metrics)):
        prior = prior_of(study, place, encoding, earlier[place])
        warped = Warp(seen.losses[:, place]).warped
        rest = warped - belief(prior, seen.rows, warped).explained
        outputs.append(fitting.run(seen.rows, rest, before))
    feasibility = None
    if len(seen.infeasible):
        feasibility = fitting.run(*labels(seen), old.feasibility if old else None)
    searched = finished if wide or old is None else old.searched
    sharp = None if len(outputs) > 1 else sharpness(encoding, seen.rows, seen.losses[:, 0])
    return Model(finished, searched, tuple(outputs), feasibility, earlier, sharp)


def stacks(study: Study, model: Model) -> bool:
    """Returns whether the model covers the earlier studies that exist now."""
    shape = [len(one.config.space.slots) for one in unrelated_studies(study)]
    return all([len(hyper.lengths) for hyper in of] == shape for of in model.earlier)


def _earlier(study: Study) -> tuple[tuple[Hyperparameters, ...], ...]:
    return tuple(fit_stack(study, place) for place in range(len(study.config.metrics)))


class _Fitting:
    def __init__(self, encoding: Encoding, *, noisy: bool, wide: bool) -> None:
        self._encoding, self._wide = encoding, wide
        self._beliefs = Beliefs(encoding.width, noisy)

    def run(self, rows: Floats, y: Floats, old: Hyperparameters | None) -> Hyperparameters:
        if old is None and len(rows) > _SAMPLE:
            every = -(-len(rows) // _SAMPLE)
            guess = self._fit(rows[::every], y[::every], [self._beliefs.centre], _LONG)
            return self._fit(rows, y, [guess.logs()], _SHORT)
        starts = [] if old is None else [old.logs()]
        if self._wide or len(rows) < _FEW or old is None:
            starts.append(self._beliefs.centre)
        return self._fit(rows, y, starts, _LONG if self._wide else _SHORT)

    def _fit(
        self, rows: Floats, y: Floats, starts: Sequence[Floats], iterations: int
    ) -> Hyperparameters:
        encoding = self._encoding.around(rows)
        evidence = Evidence(encoding.features(rows), encoding.owners, y, self._beliefs)
        return fit(evidence, self._beliefs, starts, iterations)


def fit_stack(study: Study, metric: int) -> tuple[Hyperparameters, ...]:
    """Fits hyperparameters for each study to learn from, for metric number ``metric``."""
    found: list[Hyperparameters] = []
    for level, one in enumerate(unrelated_studies(study)):
        encoding = Encoding(one.config.space)
        seen = observe(one, encoding)
        prior = prior_of(study, metric, encoding, found, levels=level)
        warped = Warp(seen.losses[:, metric]).warped
        rest = warped - belief(prior, seen.rows, warped).explained
        beliefs = Beliefs(encoding.width, one.config.noise is Noise.HIGH)
        evidence = Evidence(encoding.features(seen.rows), encoding.owners, rest, beliefs)
        found.append(fit(evidence, beliefs, [beliefs.centre], _ITERATIONS))
    return tuple(found)


def prior_of(
    study: Study,
    metric: int,
    here: Encoding,
    fitted: Sequence[Hyperparameters],
    *,
    levels: int | None = None,
) -> Prior | None:
    """Returns the prior from the first ``levels`` studies for ``here``; None: there are none."""
    prior: Prior | None = None
    below: Surrogate | None = None
    before: Encoding | None = None
    for one, hyperparameters in list(zip(unrelated_studies(study), fitted, strict=False))[:levels]:
        encoding = Encoding(one.config.space)
        seen = observe(one, encoding)
        if below is not None and before is not None:
            prior = Prior(encoding, before, below.mean)
        nothing: Floats = encoding.rows([])
        losses = seen.losses[:, metric]
        below = Surrogate(encoding, hyperparameters, seen.rows, losses, nothing, prior)
        before = encoding
    return None if below is None or before is None else Prior(here, before, below.mean)
