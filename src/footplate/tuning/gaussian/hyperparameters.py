"""What a Gaussian process is fitted by, and what is believed of it before any measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

LEAST_LENGTH, MOST_LENGTH = 0.03, 30.0
_LEAST_NOISE, _MOST_NOISE = 1e-6, 1.0
_MOST_WITHOUT = 0.05
"""The most noise of measurements that aren't known to differ."""
_BOUNDS_SIGNAL = (-3.0, 3.0)


@dataclass(frozen=True)
class Hyperparameters:
    """Of measurements with mean 0 and variance 1."""

    lengths: tuple[float, ...]
    """One for each slot, in lengths of its axis."""
    signal: float
    """The variance of the function."""
    noise: float
    """The variance of measurements of one point."""

    def logs(self) -> Floats:
        return np.asarray(np.log([*self.lengths, self.signal, self.noise]))


def from_logs(theta: Floats) -> Hyperparameters:
    *lengths, signal, noise = (float(value) for value in np.exp(theta))
    return Hyperparameters(tuple(lengths), signal, noise)


@dataclass(frozen=True)
class Beliefs:
    """Normal distributions of the logarithms, and bounds that keep the numerics sound.

    Length scales grow with the root of the number of parameters, as distances in a cube do.
    Source: Hvarfner et al., "Vanilla Bayesian Optimization Performs Great in High Dimensions",
    2024.
    """

    slots: int
    noise: float = 1e-3
    noise_spread: float = 2.0
    most_noise: float = _MOST_NOISE

    @classmethod
    def of(cls, slots: int, *, noisy: bool) -> Beliefs:
        """``noisy``: measurements of one point are known to differ.

        Where they aren't, what is rough has to be explained by short lengths: taken for noise, it
        would let the search forget its best point, and try a plateau again and again.
        """
        if noisy:
            return cls(slots, noise=0.1, noise_spread=1.0)
        return cls(slots, most_noise=_MOST_WITHOUT)

    @property
    def centre(self) -> Floats:
        length = np.log(0.5) + 0.5 * np.log(self.slots / 4.0 + 0.5)
        return np.array([*[length] * self.slots, 0.0, np.log(self.noise)])

    @property
    def spread(self) -> Floats:
        return np.array([*[1.0] * self.slots, 1.0, self.noise_spread])

    @property
    def bounds(self) -> list[tuple[float, float]]:
        length = float(np.log(LEAST_LENGTH)), float(np.log(MOST_LENGTH))
        noise = float(np.log(_LEAST_NOISE)), float(np.log(self.most_noise))
        return [*[length] * self.slots, _BOUNDS_SIGNAL, noise]

    def clip(self, theta: Floats) -> Floats:
        low, high = np.array(self.bounds).T
        return np.clip(theta, low, high)

    def penalty(self, theta: Floats) -> tuple[float, Floats]:
        """The negative logarithm of their density, up to a constant, and its gradient."""
        off = (theta - self.centre) / self.spread
        return 0.5 * float(off @ off), off / self.spread
