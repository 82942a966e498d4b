"""Acquisition functions. Losses: smaller is better."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.special import log_ndtr, ndtr

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_HALF_LOG_2PI = 0.5 * np.log(2.0 * np.pi)
_FAR = -6.0


class Acquisition(Protocol):
    def value(self, mean: Floats, spread: Floats) -> Floats: ...

    def slopes(self, mean: float, spread: float) -> tuple[float, float]:
        """How the value changes with mean and spread."""
        ...


@dataclass(frozen=True)
class LogExpectedImprovement:
    """The logarithm of what is expected to be gained over ``best``, without underflow.

    Source: Ament et al., "Unexpected Improvements to Expected Improvement for Bayesian
    Optimization", 2023.
    """

    best: float

    def value(self, mean: Floats, spread: Floats) -> Floats:
        return np.asarray(np.log(spread) + _log_gain((self.best - mean) / spread))

    def slopes(self, mean: float, spread: float) -> tuple[float, float]:
        z = (self.best - mean) / spread
        rise = float(np.exp(log_ndtr(z) - _log_gain(np.array([z]))[0]))
        return -rise / spread, (1.0 - rise * z) / spread


def _log_gain(z: Floats) -> Floats:
    """log(phi(z) + z Phi(z)); far below 0 by its asymptotic series."""
    near = np.maximum(z, _FAR)
    direct = np.log(np.exp(-0.5 * near * near - _HALF_LOG_2PI) + near * ndtr(near))
    far = np.minimum(z, _FAR)
    series = np.log1p(-3.0 / far**2 + 15.0 / far**4) - 2.0 * np.log(-far)
    return np.asarray(np.where(z > _FAR, direct, -0.5 * far * far - _HALF_LOG_2PI + series))
