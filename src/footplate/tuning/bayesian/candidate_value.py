"""The value of a candidate, where there is one metric or several. Losses: smaller is better.

With several metrics each suggestion weighs them differently, at random, and takes what may well be
best for that weighing, so that all of the front is found in time. Source: Zhang and Golovin,
"Random Hypervolume Scalarizations for Provable Multi-Objective Black Box Optimization", 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr

from footplate.tuning.bayesian.observations import Observations
from footplate.tuning.bayesian.plateaus import Marginals, Plateaus
from footplate.tuning.bayesian.surrogate import Surrogate
from footplate.tuning.encoding import Encoding
from footplate.tuning.gaussian.fitting import Hyperparameters
from footplate.tuning.gaussian.posterior import Posterior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats

    Places = NDArray[np.int64]

_FAILED = -2.0
"""The label of a failed trial; the others, and whatever is unknown, have 0."""
_BLUR = 0.1
"""The least variance of a label: no border is sharp."""
_AVERSION = 10.0
"""What is more likely to fail than to work is avoided so much more: else it would draw the search
as soon as the rest is well known."""
_HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)
_FAR = -6.0
_LEAST, _GROWTH, _WORTH = 0.2, 0.3, 5.0
_OUTSIDE = 100.0
_SLOPE = 1000.0
_ITERATIONS, _EVALUATIONS = 25, 40
_REACH = 0.1
"""So far a climb moves a number once marginals are believed: the model alone climbs to corners."""
_OPTIMISM = 1.8
_BEYOND = 0.1
"""How much worse than the worst the point is from which gains are counted."""


def labels(seen: Observations) -> tuple[Floats, Floats]:
    """Returns the rows of all ended trials, and their labels for a model of feasibility."""
    rows = np.vstack([seen.rows, seen.infeasible])
    found = np.zeros(len(rows))
    found[len(seen.rows) :] = _FAILED
    return rows, found


class Feasibility:
    """A model of which rows fail; ``hyperparameters`` is None if no trial has failed."""

    def __init__(
        self, encoding: Encoding, hyperparameters: Hyperparameters | None, seen: Observations
    ) -> None:
        self._posterior: Posterior | None = None
        if hyperparameters is not None and len(seen.infeasible):
            nothing = encoding.rows([])
            self._posterior = Posterior(encoding, hyperparameters, *labels(seen), nothing)

    def worth(self, rows: Floats) -> Floats:
        """Returns what to add to the worth of rows: 0 for rows that certainly work."""
        if self._posterior is None:
            return np.zeros(len(rows))
        mean, spread = self._posterior.predict(rows)
        likely = log_ndtr((mean - _FAILED / 2.0) / np.sqrt(_BLUR + spread**2))
        return np.asarray(likely + _AVERSION * np.minimum(0.0, likely - np.log(0.5)))


@dataclass(frozen=True)
class LogExpectedImprovement:
    """The logarithm of the expected improvement over ``best``, without underflow.

    Source: Ament et al., "Unexpected Improvements to Expected Improvement for Bayesian
    Optimization", 2023.
    """

    best: float

    def value(self, mean: Floats, spread: Floats) -> Floats:
        return np.asarray(np.log(spread) + _log_gain((self.best - mean) / spread))

    def slopes(self, mean: float, spread: float) -> tuple[float, float]:
        """Returns the derivatives of the value by the mean and by the spread."""
        z = (self.best - mean) / spread
        rise = float(np.exp(log_ndtr(z) - _log_gain(np.array([z]))[0]))
        return -rise / spread, (1.0 - rise * z) / spread


def _log_gain(z: Floats) -> Floats:
    """Returns log(phi(z) + z Phi(z)), far below 0 by its asymptotic series."""
    near = np.maximum(z, _FAR)
    direct = np.log(np.exp(-0.5 * near * near - _HALF_LOG_2PI) + near * ndtr(near))
    far = np.minimum(z, _FAR)
    series = np.log1p(-3.0 / far**2 + 15.0 / far**4) - 2.0 * np.log(-far)
    return np.asarray(np.where(z > _FAR, direct, -0.5 * far * far - _HALF_LOG_2PI + series))


class TrustRegion:
    """Boxes around the measured rows, which ignore categories and inactive slots.

    The corners of the space are far from all measurements, and would be tried first without these
    boxes. Source: Song et al., "The Vizier Gaussian Process Bandit Algorithm", 2024, section 4.4.
    """

    def __init__(self, encoding: Encoding, rows: Floats) -> None:
        self._numbers = np.flatnonzero(~encoding.categorical)
        self._centres = rows[:, self._numbers]
        enough = _WORTH * (encoding.width + 1)
        self._everywhere = len(rows) >= enough or len(self._numbers) == 0
        self.radius = _LEAST + _GROWTH * len(rows) / enough

    def penalty(self, rows: Floats) -> Floats:
        """Returns what to subtract from each row's worth: 0 inside the boxes, more outside."""
        if self._everywhere:
            return np.zeros(len(rows))
        apart = np.zeros((len(rows), len(self._centres)))
        for positions, centres in zip(rows[:, self._numbers].T, self._centres.T, strict=True):
            both = np.ix_(*(np.flatnonzero(~np.isnan(of)) for of in (positions, centres)))
            along = np.abs(positions[both[0]] - centres[both[1]])
            apart[both] = np.maximum(apart[both], along)
        outside = apart.min(axis=1) - self.radius
        return np.where(outside > 0.0, _OUTSIDE + _SLOPE * outside, 0.0)


class CandidateValue:
    def __init__(
        self,
        encoding: Encoding,
        surrogate: Surrogate,
        acquisition: LogExpectedImprovement,
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
        """Returns the best row near ``row`` by the model; callers round it to allowed values."""
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


class MultiObjectiveValue:
    """The value of candidates for several metrics: the least of their weighted gains."""

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
        """Returns the row unchanged: a minimum of several objectives isn't smooth."""
        return row

    def _shared(self, losses: Sequence[Floats]) -> Floats:
        parts = zip(losses, self._worst, self._weights, strict=True)
        gains = [(worst - loss) / weight for loss, worst, weight in parts]
        return np.asarray(np.min(gains, axis=0))
