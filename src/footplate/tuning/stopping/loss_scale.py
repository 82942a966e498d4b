"""Ranks a loss among the final losses of complete curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.tuning.axes import Floats

_CEILING = 8.0
"""Of the scale: e^7 times as far from the best as the middle is."""


@dataclass(frozen=True)
class Scale:
    """0 is the best end of a whole curve, 1 the middle one; what is worse counts by its logarithm,
    as how bad bad trials are hardly matters.
    """

    best: float
    middle: float

    @property
    def unit(self) -> float:
        return self.middle - self.best

    def place(self, losses: Floats) -> Floats:
        with np.errstate(over="ignore"):
            places = (losses - self.best) / self.unit
        far = 1.0 + np.log(np.maximum(places, 1.0))
        return np.clip(np.where(places > 1.0, far, places), -_CEILING, _CEILING)

    def loss(self, place: float) -> float:
        stretched = place if place <= 1.0 else math.exp(min(place, _CEILING) - 1.0)
        return self.best + stretched * self.unit

    def steepness(self, places: Floats) -> Floats:
        """By how much a place changes with the loss, as its logarithm."""
        return -math.log(self.unit) - np.maximum(places - 1.0, 0.0)


def scale_of(ends: Sequence[float]) -> Scale | None:
    """None where ends don't differ."""
    numbers = [end for end in ends if math.isfinite(end)]
    best = min(numbers, default=math.inf)
    if max(numbers, default=best) <= best:
        return None
    middle = median(numbers)
    return Scale(best, middle if middle > best else sum(numbers) / len(numbers))
