"""How much each row is worth trying, all things considered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.acquisition import Acquisition
    from footplate.tuning.bayesian.surrogate import Surrogate
    from footplate.tuning.bayesian.trust_region import TrustRegion
    from footplate.tuning.encoding import Encoding
    from footplate.tuning.gaussian.posterior import Posterior

    Places = NDArray[np.int64]

_BLUR = 0.1
"""The least variance of a label: no border is sharp."""
_AVERSION = 10.0
"""What is more likely to fail than to work is avoided so much more: else it would draw the search
as soon as the rest is well known."""
_ITERATIONS, _EVALUATIONS = 25, 40


class Worth:
    """``feasibility``: a model of labels, 0 for what works, -2 for what fails; None: all works."""

    def __init__(
        self,
        encoding: Encoding,
        surrogate: Surrogate,
        acquisition: Acquisition,
        trust: TrustRegion,
        feasibility: Posterior | None,
    ) -> None:
        self._encoding, self._surrogate, self._acquisition = encoding, surrogate, acquisition
        self._trust, self._feasibility = trust, feasibility

    def of(self, rows: Floats) -> Floats:
        mean, spread = self._surrogate.predict(rows)
        worth = self._acquisition.value(mean, spread) - self._trust.penalty(rows)
        return worth + self._log_feasible(rows)

    def polished(self, row: Floats) -> Floats:
        """The top of the hill that the row stands on, over its active numbers. Not settled yet."""
        free = np.flatnonzero(~self._encoding.categorical & ~np.isnan(row))
        if len(free) == 0:
            return row

        def loss(positions: Floats) -> tuple[float, Floats]:
            moved = row.copy()
            moved[free] = positions
            return self._loss(moved, free)

        bounds = [(0.0, 1.0)] * len(free)
        options = {"maxiter": _ITERATIONS, "maxfun": _EVALUATIONS}
        found = minimize(
            loss, row[free], jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )
        top = row.copy()
        top[free] = found.x
        return top

    def _loss(self, row: Floats, free: Places) -> tuple[float, Floats]:
        mean, spread, of_mean, of_spread = self._surrogate.predict_with_slopes(row)
        value = self._acquisition.value(np.array([mean]), np.array([spread]))[0]
        by_mean, by_spread = self._acquisition.slopes(mean, spread)
        slope = by_mean * of_mean + by_spread * of_spread
        return -float(value), -slope[free]

    def _log_feasible(self, rows: Floats) -> Floats:
        """How likely each row is to work, as a logarithm. Halfway between the labels is even."""
        if self._feasibility is None:
            return np.zeros(len(rows))
        mean, spread = self._feasibility.predict(rows)
        likely = log_ndtr((mean + 1.0) / np.sqrt(_BLUR + spread**2))
        return np.asarray(likely + _AVERSION * np.minimum(0.0, likely - np.log(0.5)))
