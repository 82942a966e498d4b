"""The Matern kernel with nu = 5/2.

Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 4.17.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_ROOT_5 = np.sqrt(5.0)


def matern(squared: Floats) -> Floats:
    """Of squared distances, which are divided by the length scales already."""
    scaled = _ROOT_5 * np.sqrt(squared)
    return np.asarray((1.0 + scaled + scaled * scaled / 3.0) * np.exp(-scaled))


def matern_with_slope(squared: Floats) -> tuple[Floats, Floats]:
    """And its derivative by the squared distance."""
    scaled = _ROOT_5 * np.sqrt(squared)
    decay = np.exp(-scaled)
    return (1.0 + scaled + scaled * scaled / 3.0) * decay, -5.0 / 6.0 * (1.0 + scaled) * decay


def squared_distances(ones: Floats, others: Floats) -> Floats:
    """(n, m), of rows of features; rounding may not make them negative."""
    lengths = (ones * ones).sum(axis=1)[:, None] + (others * others).sum(axis=1)[None, :]
    return np.asarray(np.maximum(lengths - 2.0 * ones @ others.T, 0.0))
