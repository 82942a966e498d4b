"""The Matern kernel with nu = 5/2 for smooth functions, and a short one for rough ones.

Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 4.17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_ROOT_5 = np.sqrt(5.0)
_HALVINGS = 4
_SHORTER = 2.0**_HALVINGS
"""The lengths of what is rough are so many times shorter."""


def matern(squared: Floats) -> Floats:
    """Of squared distances, which are divided by the length scales already."""
    scaled = _ROOT_5 * np.sqrt(squared)
    return _matern(np.exp(-scaled), scaled)


def matern_with_slope(squared: Floats) -> tuple[Floats, Floats]:
    """And its derivative by the squared distance."""
    scaled = _ROOT_5 * np.sqrt(squared)
    decay = np.exp(-scaled)
    return _matern(decay, scaled), -5.0 / 6.0 * (1.0 + scaled) * decay


def smooth_and_rough(squared: Floats, signal: float, rough: float) -> Floats:
    """The sum of both, of variances ``signal`` and ``rough``, for little more than one of them."""
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
    """And its derivative by the squared distance."""
    smooth, slope = matern_with_slope(squared)
    short, short_slope = rough_with_slope(squared)
    return signal * smooth + rough * short, signal * slope + rough * short_slope


def rough_with_slope(squared: Floats) -> tuple[Floats, Floats]:
    """The part with short lengths alone, and its derivative by the squared distance."""
    kernel, slope = matern_with_slope(_SHORTER**2 * squared)
    return kernel, _SHORTER**2 * slope


def _matern(decay: Floats, scaled: Floats) -> Floats:
    """decay (1 + s + s^2 / 3), without more arrays than it takes."""
    found = scaled / 3.0
    found += 1.0
    found *= scaled
    found += 1.0
    found *= decay
    return np.asarray(found)


def squared_distances(ones: Floats, others: Floats, sizes: Floats | None = None) -> Floats:
    """(n, m), of rows of features; rounding may not make them negative.

    ``sizes``: the squared lengths of ``others``, where they are known.
    """
    if sizes is None:
        sizes = (others * others).sum(axis=1)
    squared = ones @ (-2.0 * others.T)
    squared += (ones * ones).sum(axis=1)[:, None]
    squared += sizes[None, :]
    return np.asarray(np.maximum(squared, 0.0, out=squared))
