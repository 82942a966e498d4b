"""The posterior of a Gaussian process.

Source: Rasmussen and Williams, algorithm 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_solve, lapack, solve_triangular

from footplate.tuning.gaussian.kernel import (
    smooth_and_rough,
    smooth_and_rough_with_slope,
    squared_distances,
)

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats
    from footplate.tuning.encoding import Encoding
    from footplate.tuning.gaussian.hyperparameters import Hyperparameters

_MIN_VARIANCE = 1e-12


class Posterior:
    """``rows`` were measured as ``y``; ``pending`` ones will be.

    Pending points lower the spread around them and leave the mean alone: wherever they end, less
    will be to be learned there. Source: Desautels et al., "Parallelizing Exploration-Exploitation
    Tradeoffs in Gaussian Process Bandit Optimization", 2014 (GP-BUCB).
    """

    def __init__(
        self,
        encoding: Encoding,
        hyperparameters: Hyperparameters,
        rows: Floats,
        y: Floats,
        pending: Floats,
    ) -> None:
        known = np.vstack([rows, pending])
        self._encoding = encoding = encoding.around(known)
        self._lengths = np.array(hyperparameters.lengths)[encoding.owners]
        self._signal, self._rough = hyperparameters.signal, hyperparameters.rough
        self._noise = hyperparameters.noise
        self._measured = len(rows)
        self._features = self._scaled(known)
        self._sizes = (self._features * self._features).sum(axis=1)
        factor = _factor(self._covariance())
        own = factor[: self._measured, : self._measured]
        self._weights = cho_solve((own, True), y, check_finite=False)
        identity = np.eye(len(factor))
        self._whitening = solve_triangular(factor, identity, lower=True, check_finite=False)

    def mean(self, rows: Floats) -> Floats:
        squared = self._apart(self._scaled(rows))[:, : self._measured]
        found: Floats = self._kernel(squared) @ self._weights
        return found

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        """Mean and standard deviation of the function, without the noise of a measurement."""
        kernel = self._kernel(self._apart(self._scaled(rows)))
        known = kernel @ self._whitening.T
        variance = self._signal + self._rough - np.einsum("ij,ij->i", known, known)
        spread = np.sqrt(np.maximum(variance, _MIN_VARIANCE))
        return kernel[:, : self._measured] @ self._weights, spread

    def predict_with_slopes(self, row: Floats) -> tuple[float, float, Floats, Floats]:
        """Of one row: mean, standard deviation, and how each changes along each slot."""
        at = self._scaled(row[None, :])
        apart = self._apart(at)[0]
        kernel, slope = smooth_and_rough_with_slope(apart, self._signal, self._rough)
        turn = self._encoding.slopes(row) / self._lengths
        by_column = 2.0 * slope[:, None] * (at - self._features) * turn
        known = self._whitening @ kernel
        variance = self._signal + self._rough - float(known @ known)
        spread = np.sqrt(max(variance, _MIN_VARIANCE))
        mean = float(kernel[: self._measured] @ self._weights)
        of_mean = by_column[: self._measured].T @ self._weights
        of_spread = -(by_column.T @ (self._whitening.T @ known)) / spread
        return mean, float(spread), self._by_slot(of_mean), self._by_slot(of_spread)

    def _apart(self, features: Floats) -> Floats:
        return squared_distances(features, self._features, self._sizes)

    def _scaled(self, rows: Floats) -> Floats:
        scaled: Floats = self._encoding.features(rows) / self._lengths
        return scaled

    def _covariance(self) -> Floats:
        covariance = self._kernel(self._apart(self._features))
        covariance[np.diag_indices_from(covariance)] += self._noise
        return covariance

    def _kernel(self, squared: Floats) -> Floats:
        return smooth_and_rough(squared, self._signal, self._rough)

    def _by_slot(self, by_column: Floats) -> Floats:
        width = self._encoding.width
        summed = np.bincount(self._encoding.owners, weights=by_column, minlength=width)
        return summed.astype(np.float64)


def _factor(covariance: Floats) -> Floats:
    """The lower Cholesky factor; what is added to the diagonal grows until there is one."""
    diagonal = np.diag_indices_from(covariance)
    added = 1e-8
    while True:
        raised = covariance.copy()
        raised[diagonal] += added
        factor, failed = lapack.dpotrf(raised, lower=1, clean=1)
        if not failed:
            found: Floats = factor
            return found
        added *= 10.0
