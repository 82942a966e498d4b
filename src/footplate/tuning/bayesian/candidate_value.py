"""The value of a candidate where there is one metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.acquisition import Acquisition
    from footplate.tuning.bayesian.feasibility import Feasibility
    from footplate.tuning.bayesian.marginals import Marginals
    from footplate.tuning.bayesian.plateaus import Plateaus
    from footplate.tuning.bayesian.surrogate import Surrogate
    from footplate.tuning.bayesian.trust_region import TrustRegion
    from footplate.tuning.encoding import Encoding

    Places = NDArray[np.int64]

_ITERATIONS, _EVALUATIONS = 25, 40
_REACH = 0.1
"""So far a climb moves a number once marginals are believed: the model alone climbs to corners."""


class CandidateValue:
    def __init__(
        self,
        encoding: Encoding,
        surrogate: Surrogate,
        acquisition: Acquisition,
        trust: TrustRegion,
        feasibility: Feasibility,
        marginals: Marginals,
        ties: Plateaus,
    ) -> None:
        self._encoding, self._surrogate, self._acquisition = encoding, surrogate, acquisition
        self._trust, self._feasibility = trust, feasibility
        self._marginals, self._ties = marginals, ties

    def of(self, rows: Floats) -> Floats:
        mean, spread = self._surrogate.predict(rows)
        worth = self._acquisition.value(mean, spread) - self._trust.penalty(rows)
        worth = worth + self._marginals.worth(rows) + self._ties.worth(rows)
        return np.asarray(worth + self._feasibility.worth(rows))

    def polished(self, row: Floats) -> Floats:
        """The best near the row by the model alone, over its active numbers. Not settled yet."""
        free = np.flatnonzero(~self._encoding.categorical & ~np.isnan(row))
        if len(free) == 0:
            return row

        def loss(positions: Floats) -> tuple[float, Floats]:
            moved = row.copy()
            moved[free] = positions
            return self._loss(moved, free)

        reach = 1.0 - (1.0 - _REACH) * self._marginals.weight
        ends = np.clip(row[free] - reach, 0.0, 1.0), np.clip(row[free] + reach, 0.0, 1.0)
        bounds = list(zip(*ends, strict=True))
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
