"""The kernels and the posterior of a Gaussian process.

The Matern kernel with nu = 5/2 is for smooth functions, a short one for rough ones. Source:
Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 4.17 and
algorithm 2.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cho_solve, lapack, solve_triangular

from footplate.tuning.encoding import Encoding

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats
    from footplate.tuning.gaussian.fitting import Hyperparameters

_ROOT_5 = np.sqrt(5.0)
_HALVINGS = 4
_SHORTER = 2.0**_HALVINGS
"""The lengths of what is rough are so many times shorter."""
_MIN_VARIANCE = 1e-12


def matern(squared: Floats) -> Floats:
    """Returns the Matern kernel of squared distances that are divided by the length scales."""
    scaled = _ROOT_5 * np.sqrt(squared)
    return _matern(np.exp(-scaled), scaled)


def matern_with_slope(squared: Floats) -> tuple[Floats, Floats]:
    """Returns the Matern kernel and its derivative by the squared distance."""
    scaled = _ROOT_5 * np.sqrt(squared)
    decay = np.exp(-scaled)
    return _matern(decay, scaled), -5.0 / 6.0 * (1.0 + scaled) * decay


def smooth_and_rough(squared: Floats, signal: float, rough: float) -> Floats:
    """Returns the sum of the smooth and the rough kernel, at little more than the cost of one.

    Their variances are ``signal`` and ``rough``.
    """
    scaled = np.sqrt(squared)
    scaled *= _ROOT_5
    decay = np.exp(-scaled)
    found = _matern(decay, scaled)
    found *= signal
    for _ in range(_HALVINGS):
        np.multiply(decay, decay, out=decay)
    scaled *= _SHORTER
    short = _matern(decay, scaled)
    short *= rough
    found += short
    return found


def smooth_and_rough_with_slope(
    squared: Floats, signal: float, rough: float
) -> tuple[Floats, Floats]:
    """Returns the sum of both kernels and its derivative by the squared distance."""
    smooth, slope = matern_with_slope(squared)
    short, short_slope = rough_with_slope(squared)
    return signal * smooth + rough * short, signal * slope + rough * short_slope


def rough_with_slope(squared: Floats) -> tuple[Floats, Floats]:
    """Returns the kernel with short lengths alone, and its derivative by the squared distance."""
    kernel, slope = matern_with_slope(_SHORTER**2 * squared)
    return kernel, _SHORTER**2 * slope


def _matern(decay: Floats, scaled: Floats) -> Floats:
    """Returns decay (1 + s + s^2 / 3), with as few arrays as possible."""
    found = scaled / 3.0
    found += 1.0
    found *= scaled
    found += 1.0
    found *= decay
    return np.asarray(found)


def squared_distances(ones: Floats, others: Floats, sizes: Floats | None = None) -> Floats:
    """Returns an (n, m) array of squared distances between rows, never negative.

    ``sizes`` has the squared lengths of ``others``, if they are known.
    """
    if sizes is None:
        sizes = (others * others).sum(axis=1)
    squared = ones @ (-2.0 * others.T)
    squared += (ones * ones).sum(axis=1)[:, None]
    squared += sizes[None, :]
    return np.asarray(np.maximum(squared, 0.0, out=squared))


class Posterior:
    """The posterior of a Gaussian process; ``rows`` were measured, ``pending`` ones will be.

    Pending points lower the spread around them and leave the mean unchanged: whatever their
    results, less will be left to learn near them. Source: Desautels et al., "Parallelizing
    Exploration-Exploitation Tradeoffs in Gaussian Process Bandit Optimization", 2014 (GP-BUCB).
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
        """Returns the mean and standard deviation of the function, without measurement noise."""
        kernel = self._kernel(self._apart(self._scaled(rows)))
        known = kernel @ self._whitening.T
        variance = self._signal + self._rough - np.einsum("ij,ij->i", known, known)
        spread = np.sqrt(np.maximum(variance, _MIN_VARIANCE))
        return kernel[:, : self._measured] @ self._weights, spread

    def predict_with_slopes(self, row: Floats) -> tuple[float, float, Floats, Floats]:
        """Returns one row's mean and standard deviation, and their slopes along each slot."""
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
    """Returns the lower Cholesky factor; increases the diagonal until a factor exists."""
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
