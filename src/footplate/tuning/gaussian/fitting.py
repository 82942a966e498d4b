"""Fits hyperparameters to measurements (MAP).

Source of the likelihood and its gradient: Rasmussen and Williams, equations 5.8 and 5.9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from footplate.tuning.gaussian.hyperparameters import from_logs
from footplate.tuning.gaussian.kernel import (
    matern_with_slope,
    rough_with_slope,
    squared_distances,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats
    from footplate.tuning.gaussian.hyperparameters import Beliefs, Hyperparameters

_JITTER = 1e-8
_IMPOSSIBLE = 1e10
"""The loss of hyperparameters that make the kernel matrix singular."""


class Evidence:
    """The loss of hyperparameters: how badly they explain the measurements ``y``.

    ``owners``: the slot of each column of ``features``.
    """

    def __init__(
        self, features: Floats, owners: NDArray[np.int64], y: Floats, beliefs: Beliefs
    ) -> None:
        self._features, self._owners, self._y, self._beliefs = features, owners, y, beliefs
        self._slots = beliefs.slots

    def loss(self, theta: Floats) -> tuple[float, Floats]:
        """And its gradient, by the logarithms of lengths, signal, rough and noise."""
        scaled = self._features / np.exp(theta[: self._slots])[self._owners]
        signal, rough, noise = np.exp(theta[-3:])
        squared = squared_distances(scaled, scaled)
        smooth, slope = matern_with_slope(squared)
        short, short_slope = rough_with_slope(squared)
        covariance = signal * smooth + rough * short
        covariance[np.diag_indices_from(covariance)] += noise + _JITTER
        factor, failed = lapack.dpotrf(covariance, lower=1)
        if failed:
            return _IMPOSSIBLE, np.zeros_like(theta)
        weights = lapack.dpotrs(factor, self._y, lower=1)[0]
        penalty, pull = self._beliefs.penalty(theta)
        loss = 0.5 * self._y @ weights + np.log(np.diag(factor)).sum() + penalty
        excess = _inverse(factor) - np.outer(weights, weights)
        gradient = np.empty_like(theta)
        slope = signal * slope + rough * short_slope
        gradient[: self._slots] = self._by_lengths(0.5 * excess * slope, scaled)
        gradient[-3] = 0.5 * signal * float((excess * smooth).sum())
        gradient[-2] = 0.5 * rough * float((excess * short).sum())
        gradient[-1] = 0.5 * noise * float(np.trace(excess))
        return float(loss), gradient + pull

    def _by_lengths(self, pull: Floats, scaled: Floats) -> Floats:
        """``pull``: of the loss on each squared distance. It is symmetric.

        The sum over all pairs of pull times (a - b)^2 is taken without making the differences.
        """
        apart = pull.sum(axis=1) @ (scaled * scaled) - ((pull @ scaled) * scaled).sum(axis=0)
        summed = np.bincount(self._owners, weights=apart, minlength=self._slots)
        return -4.0 * summed.astype(np.float64)


def fit(
    evidence: Evidence, beliefs: Beliefs, starts: Sequence[Floats], iterations: int
) -> Hyperparameters:
    """The best of what L-BFGS finds from each start."""
    found = [
        minimize(
            evidence.loss,
            beliefs.clip(start),
            jac=True,
            method="L-BFGS-B",
            bounds=beliefs.bounds,
            options={"maxiter": iterations},
        )
        for start in starts
    ]
    return from_logs(min(found, key=lambda result: float(result.fun)).x)


def _inverse(factor: Floats) -> Floats:
    """Of the matrix whose lower Cholesky factor it is."""
    lower = np.tril(lapack.dpotri(factor, lower=1)[0])
    full: Floats = lower + np.tril(lower, -1).T
    return full
