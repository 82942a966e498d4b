"""Hyperparameters of a Gaussian process, with priors, and their fit to measurements (MAP).

Source of the likelihood and its gradient: Rasmussen and Williams, equations 5.8 and 5.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack
from scipy.optimize import minimize

from footplate.tuning.gaussian.posterior import (
    matern_with_slope,
    rough_with_slope,
    squared_distances,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats

LEAST_LENGTH, MOST_LENGTH = 0.03, 30.0
_BOUNDS_SIGNAL = (-3.0, 3.0)
_LEAST = 1e-6
"""Of what is rough, and of noise: there is none."""
_MOST_ROUGH, _MOST_NOISE = 0.3, 1.0
_MOST_WITHOUT = 0.05
"""The most noise of measurements that aren't known to differ."""
_JITTER = 1e-8
_IMPOSSIBLE = 1e10
"""The loss of hyperparameters that make the kernel matrix singular."""


@dataclass(frozen=True)
class Hyperparameters:
    """The hyperparameters of a model of measurements with mean 0 and variance 1."""

    lengths: tuple[float, ...]
    """One for each slot, in lengths of its axis."""
    signal: float
    """The variance of what is smooth."""
    rough: float
    """The variance of what is rough: the same for one point, but hardly alike for any two."""
    noise: float
    """The variance of measurements of one point."""

    def logs(self) -> Floats:
        return np.asarray(np.log([*self.lengths, self.signal, self.rough, self.noise]))


def from_logs(theta: Floats) -> Hyperparameters:
    *lengths, signal, rough, noise = (float(value) for value in np.exp(theta))
    return Hyperparameters(tuple(lengths), signal, rough, noise)


@dataclass(frozen=True)
class Beliefs:
    """Prior beliefs: normal distributions of logarithms, and bounds that keep the numerics sound.

    ``noisy``: measurements of one point are known to differ, and everything that isn't smooth is
    noise. If they aren't noisy, most of it is rough: taken for noise, it would let the search
    forget its best point, and try the same one again and again.

    Length scales grow with the root of the number of parameters, as distances in a cube do. Source:
    Hvarfner et al., "Vanilla Bayesian Optimization Performs Great in High Dimensions", 2024.
    """

    slots: int
    noisy: bool

    @property
    def centre(self) -> Floats:
        length = np.log(0.5) + 0.5 * np.log(self.slots / 4.0 + 0.5)
        rough, noise = (_LEAST, 0.1) if self.noisy else (1e-3, 1e-3)
        return np.array([*[length] * self.slots, 0.0, np.log(rough), np.log(noise)])

    @property
    def spread(self) -> Floats:
        return np.array([*[1.0] * self.slots, 1.0, 2.0, 1.0 if self.noisy else 2.0])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        rough, noise = (_LEAST, _MOST_NOISE) if self.noisy else (_MOST_ROUGH, _MOST_WITHOUT)
        length, least = (float(np.log(LEAST_LENGTH)), float(np.log(MOST_LENGTH))), np.log(_LEAST)
        rests = [(float(least), float(np.log(most))) for most in (rough, noise)]
        return [*[length] * self.slots, _BOUNDS_SIGNAL, *rests]

    def clip(self, theta: Floats) -> Floats:
        low, high = np.array(self.bounds).T
        return np.clip(theta, low, high)

    def penalty(self, theta: Floats) -> tuple[float, Floats]:
        """Returns the negative logarithm of the density, up to a constant, and its gradient."""
        off = (theta - self.centre) / self.spread
        return 0.5 * float(off @ off), off / self.spread


class Evidence:
    """The loss of hyperparameters: how badly they explain the measurements ``y``.

    ``owners`` has the slot of each column of ``features``.
    """

    def __init__(
        self, features: Floats, owners: NDArray[np.int64], y: Floats, beliefs: Beliefs
    ) -> None:
        self._features, self._owners, self._y, self._beliefs = features, owners, y, beliefs
        self._slots = beliefs.slots

    def loss(self, theta: Floats) -> tuple[float, Floats]:
        """Returns the loss and its gradient by logarithms of lengths, signal, rough and noise."""
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
        """Returns the loss's gradient by the lengths, from ``pull``, that by squared distances.

        ``pull`` is symmetric. The sum over all pairs of pull times (a - b)^2 is computed without
        the differences.
        """
        apart = pull.sum(axis=1) @ (scaled * scaled) - ((pull @ scaled) * scaled).sum(axis=0)
        summed = np.bincount(self._owners, weights=apart, minlength=self._slots)
        return -4.0 * summed.astype(np.float64)


def fit(
    evidence: Evidence, beliefs: Beliefs, starts: Sequence[Floats], iterations: int
) -> Hyperparameters:
    """Returns the best hyperparameters that L-BFGS finds from any of the starts."""
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
    """Returns the inverse of a matrix from its lower Cholesky factor."""
    lower = np.tril(lapack.dpotri(factor, lower=1)[0])
    full: Floats = lower + np.tril(lower, -1).T
    return full
