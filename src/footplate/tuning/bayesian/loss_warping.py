"""Warps losses so that a Gaussian process can model them, and back.

Half-rank warp: what is worse than a median is moved towards it, to where its rank would lie if
losses were normally distributed. How bad the bad ones are doesn't matter; how good the good ones
are does. Source: Song et al., "The Vizier Gaussian Process Bandit Algorithm", 2024, section 4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_FLAT = 1e-12
_FIRST = 50
"""Of so few losses all count for the median."""


class Warp:
    """Of finite losses, in the order of their trials.

    ``warped`` has mean 0, and variance 1 unless they are all equal.
    """

    def __init__(self, losses: Floats) -> None:
        # The scale first, so that sums of the largest numbers stay finite.
        self._unit = float(np.abs(losses).max()) or 1.0
        scaled = losses / self._unit
        halved = _half_ranked(scaled)
        self._centre = float(halved.mean())
        self._spread = float(halved.std())
        if self._spread < _FLAT:
            self._spread = 1.0
            halved = np.full_like(halved, self._centre)
        self.warped = (halved - self._centre) / self._spread
        order = np.argsort(scaled, kind="stable")
        self._known, self._meant = self.warped[order], scaled[order]

    def loss(self, warped: float) -> float:
        """What would be warped so; better than the best and worse than the worst go on straight."""
        step = self._spread
        if warped <= self._known[0]:
            found = self._meant[0] + (warped - self._known[0]) * step
        elif warped >= self._known[-1]:
            found = self._meant[-1] + (warped - self._known[-1]) * step
        else:
            found = np.interp(warped, self._known, self._meant)
        return float(found) * self._unit


def _half_ranked(losses: Floats) -> Floats:
    """What is bad is worse than the median of the first half.

    Late trials gather around the best one: by their median all else would be bad, and to be
    better by nearly nothing a great gain.
    """
    median = np.median(losses[: max(_FIRST, len(losses) // 2)])
    bad = losses > median
    spread = np.sqrt(np.mean((losses[~bad] - median) ** 2))
    if spread < _FLAT:
        return losses.copy()  # half of them are equal: there is nothing to go by
    ranks = np.argsort(np.argsort(losses[bad], kind="stable"), kind="stable")
    normal = ndtri(0.5 + 0.5 * (ranks + 0.5) / max(len(ranks), 1))
    found = losses.copy()
    found[bad] = np.minimum(losses[bad], median + spread * normal)
    return found
