"""The model of one metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate.tuning.bayesian.loss_warping import Warp
from footplate.tuning.bayesian.prior import Belief
from footplate.tuning.gaussian.posterior import Posterior

if TYPE_CHECKING:
    from footplate.domain.studies.metrics import Metric
    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.prior import Prior
    from footplate.tuning.encoding import Encoding
    from footplate.tuning.gaussian.hyperparameters import Hyperparameters


class Surrogate:
    """Works on warped losses; :meth:`value` converts them back.

    With a prior, the Gaussian process models what that leaves to explain.
    """

    def __init__(
        self,
        encoding: Encoding,
        hyperparameters: Hyperparameters,
        rows: Floats,
        losses: Floats,
        pending: Floats,
        prior: Prior | None = None,
    ) -> None:
        self._warp = Warp(losses)
        self._prior = prior
        self._belief = belief(prior, rows, self._warp.warped)
        rest = self._warp.warped - self._belief.explained
        self._posterior = Posterior(encoding, hyperparameters, rows, rest, pending)
        self._varies = float(np.sqrt(hyperparameters.signal + hyperparameters.rough))
        self.expected = self.mean(rows)
        """What the model makes of the measured points: noise is averaged out."""

    @property
    def best(self) -> float:
        return float(self.expected.min())

    def mean(self, rows: Floats) -> Floats:
        return self._posterior.mean(rows) + self._from_prior(rows)

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        mean, spread = self._posterior.predict(rows)
        return mean + self._from_prior(rows), spread

    def predict_with_slopes(self, row: Floats) -> tuple[float, float, Floats, Floats]:
        mean, spread, of_mean, of_spread = self._posterior.predict_with_slopes(row)
        if self._prior is not None and self._belief.weight > 0.0:
            mean += float(self._from_prior(row[None, :])[0])
            of_mean = of_mean + self._belief.weight * self._prior.slopes(row)
        return mean, spread, of_mean, of_spread

    def _from_prior(self, rows: Floats) -> Floats:
        if self._prior is None or self._belief.weight == 0.0:
            return np.zeros(len(rows))
        return self._belief.weight * (self._prior.mean(rows) - self._belief.centre)

    def unknown(self, spread: float) -> float:
        """How much of what could vary at all is still open there, 0 to 1."""
        return spread / self._varies

    def value(self, metric: Metric, warped: float) -> float:
        """In the metric's own unit."""
        return metric.value(self._warp.loss(warped))


def belief(prior: Prior | None, rows: Floats, warped: Floats) -> Belief:
    expected = np.zeros(len(rows)) if prior is None else prior.mean(rows)
    return Belief(expected, warped)
