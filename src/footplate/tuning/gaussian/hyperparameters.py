"""Hyperparameters of a Gaussian process, with priors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

LEAST_LENGTH, MOST_LENGTH = 0.03, 30.0
_BOUNDS_SIGNAL = (-3.0, 3.0)
_LEAST = 1e-6
"""Of what is rough, and of noise: there is none."""
_MOST_ROUGH, _MOST_NOISE = 0.3, 1.0
_MOST_WITHOUT = 0.05
"""The most noise of measurements that aren't known to differ."""


@dataclass(frozen=True)
class Hyperparameters:
    """Of measurements with mean 0 and variance 1."""

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
    """Normal distributions of the logarithms, and bounds that keep the numerics sound.

    ``noisy``: measurements of one point are known to differ, and all that isn't smooth is noise.
    Where they aren't, most of it is rough: taken for noise, it would let the search forget its best
    point, and try the same one again and again.

    Length scales grow with the root of the number of parameters, as distances in a cube do.
    Source: Hvarfner et al., "Vanilla Bayesian Optimization Performs Great in High Dimensions",
    2024.
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
        """The negative logarithm of their density, up to a constant, and its gradient."""
        off = (theta - self.centre) / self.spread
        return 0.5 * float(off @ off), off / self.spread
