"""The model of one metric, ready to be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate.tuning.bayesian.warp import Warp
from footplate.tuning.gaussian.posterior import Posterior

if TYPE_CHECKING:
    from footplate.domain.studies.metrics import Metric
    from footplate.tuning.axes import Floats
    from footplate.tuning.encoding import Encoding
    from footplate.tuning.gaussian.hyperparameters import Hyperparameters


class Surrogate:
    """Works on warped losses; :meth:`value` says what they mean."""

    def __init__(
        self,
        encoding: Encoding,
        hyperparameters: Hyperparameters,
        rows: Floats,
        losses: Floats,
        pending: Floats,
    ) -> None:
        self._warp = Warp(losses)
        self._posterior = Posterior(encoding, hyperparameters, rows, self._warp.warped, pending)
        self._signal = hyperparameters.signal
        self.expected = self._posterior.mean(rows)
        """What the model makes of the measured points: noise is averaged out."""

    @property
    def best(self) -> float:
        return float(self.expected.min())

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        return self._posterior.predict(rows)

    def predict_with_slopes(self, row: Floats) -> tuple[float, float, Floats, Floats]:
        return self._posterior.predict_with_slopes(row)

    def unknown(self, spread: float) -> float:
        """How much of what could vary at all is still open there, 0 to 1."""
        return spread / float(np.sqrt(self._signal))

    def value(self, metric: Metric, warped: float) -> float:
        """In the metric's own unit."""
        return metric.value(self._warp.loss(warped))
