"""The value of a candidate where there are several metrics.

Each suggestion weighs the metrics differently, at random, and takes what may well be best for that
weighing, so that all of the front is found in time. Source: Zhang and Golovin, "Random Hypervolume
Scalarizations for Provable Multi-Objective Black Box Optimization", 2020.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.feasibility import Feasibility
    from footplate.tuning.bayesian.surrogate import Surrogate
    from footplate.tuning.bayesian.trust_region import TrustRegion

_OPTIMISM = 1.8
_BEYOND = 0.1
"""How much worse than the worst the point is from which gains are counted."""


class MultiObjectiveValue:
    """The least of the gains of all metrics, each by its weight."""

    def __init__(
        self,
        surrogates: Sequence[Surrogate],
        trust: TrustRegion,
        feasibility: Feasibility,
        rng: np.random.Generator,
    ) -> None:
        self._surrogates, self._trust, self._feasibility = surrogates, trust, feasibility
        direction = np.abs(rng.standard_normal(len(surrogates)))
        self._weights = np.maximum(direction / np.linalg.norm(direction), 1e-3)
        self._worst = [float(one.expected.max()) + _BEYOND for one in surrogates]

    def of(self, rows: Floats) -> Floats:
        predicted = [one.predict(rows) for one in self._surrogates]
        hoped = [mean - _OPTIMISM * spread for mean, spread in predicted]
        return self._shared(hoped) - self._trust.penalty(rows) + self._feasibility.worth(rows)

    def of_measured(self) -> Floats:
        return self._shared([one.expected for one in self._surrogates])

    def polished(self, row: Floats) -> Floats:
        """As it is: the least of several hills has edges."""
        return row

    def _shared(self, losses: Sequence[Floats]) -> Floats:
        parts = zip(losses, self._worst, self._weights, strict=True)
        gains = [(worst - loss) / weight for loss, worst, weight in parts]
        return np.asarray(np.min(gains, axis=0))
