"""Transfer learning: models of earlier studies stacked on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.studies.study import Noise
from footplate.tuning.bayesian.loss_warping import Warp
from footplate.tuning.bayesian.observations import observe
from footplate.tuning.bayesian.prior import Prior, unrelated_studies
from footplate.tuning.bayesian.surrogate import Surrogate, belief
from footplate.tuning.encoding import Encoding
from footplate.tuning.gaussian.fitting import Evidence, fit
from footplate.tuning.gaussian.hyperparameters import Beliefs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.studies.study import Study
    from footplate.tuning.axes import Floats
    from footplate.tuning.gaussian.hyperparameters import Hyperparameters

_ITERATIONS = 60


def fit_stack(study: Study, metric: int) -> tuple[Hyperparameters, ...]:
    """One for each study to learn from, of the metric at this place."""
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
    """For the space of ``here``; ``levels``: of the first so many studies. None: of no study."""
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
