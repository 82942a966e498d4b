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
    scaled = np.sqrt(squared)
    scaled *= _ROOT_5
    decay = np.exp(-scaled)
    decay *= 1.0 + scaled * (1.0 + scaled / 3.0)
    return np.asarray(decay)


def matern_with_slope(squared: Floats) -> tuple[Floats, Floats]:
    """And its derivative by the squared distance."""
    scaled = _ROOT_5 * np.sqrt(squared)
    decay = np.exp(-scaled)
    return (1.0 + scaled + scaled * scaled / 3.0) * decay, -5.0 / 6.0 * (1.0 + scaled) * decay


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
