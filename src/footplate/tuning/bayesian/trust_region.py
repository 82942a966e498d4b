"""Keeps the search near measured points while little is known.

Source: Song et al., "The Vizier Gaussian Process Bandit Algorithm", 2024, section 4.4. Corners of
the space are far from everything, and would else be tried first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats
    from footplate.tuning.encoding import Encoding

_LEAST, _GROWTH, _WORTH = 0.2, 0.3, 5.0
_OUTSIDE = 100.0
_SLOPE = 1000.0


class TrustRegion:
    """Boxes around the measured rows, of categories and whatever isn't active regardless."""

    def __init__(self, encoding: Encoding, rows: Floats) -> None:
        self._numbers = np.flatnonzero(~encoding.categorical)
        self._centres = rows[:, self._numbers]
        enough = _WORTH * (encoding.width + 1)
        self._everywhere = len(rows) >= enough or len(self._numbers) == 0
        self.radius = _LEAST + _GROWTH * len(rows) / enough

    def penalty(self, rows: Floats) -> Floats:
        """To take off the worth of each row: 0 inside, and growing outside."""
        if self._everywhere:
            return np.zeros(len(rows))
        apart = np.zeros((len(rows), len(self._centres)))
        for positions, centres in zip(rows[:, self._numbers].T, self._centres.T, strict=True):
            both = np.ix_(*(np.flatnonzero(~np.isnan(of)) for of in (positions, centres)))
            along = np.abs(positions[both[0]] - centres[both[1]])
            apart[both] = np.maximum(apart[both], along)
        outside = apart.min(axis=1) - self.radius
        return np.where(outside > 0.0, _OUTSIDE + _SLOPE * outside, 0.0)
