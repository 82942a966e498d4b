"""Where a trial will end, as the whole curves tell that went through the same point.

A ridge regression of how much a curve still changes, on its best loss so far, how much of that came
in the second half of its time, and how far it has risen since. Its penalty is the one that is best
on curves left out in turn, and so is its spread: where early results say nothing, or curves cross,
the spread is wide, and nobody has to tell it so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.tuning.axes import Floats
    from footplate.tuning.stopping.curves import Curve

LEAST_CURVES = 5
"""Fewer say little of how far forecasts are off."""
_MOST_CURVES = 200
_PENALTIES = (0.03, 0.3, 3.0, 30.0, 1e6)
"""Relative to columns of variance 1; with the last one, all curves are expected to fall alike."""
_CEILING = 8.0
"""Of the scale: e^7 times as far from the best as the middle is."""
_LEAST_VARIANCE = 1e-4
_LEAST_WIDTH = 0.05
"""What no curve did is far off, however alike they are."""


@dataclass(frozen=True)
class Scale:
    """0 is the best end of a whole curve, 1 the middle one; what is worse counts by its logarithm,
    as how bad bad trials are hardly matters.
    """

    best: float
    middle: float

    def place(self, losses: Floats) -> Floats:
        with np.errstate(over="ignore"):
            places = (losses - self.best) / (self.middle - self.best)
        far = 1.0 + np.log(np.maximum(places, 1.0))
        return np.clip(np.where(places > 1.0, far, places), -_CEILING, _CEILING)

    def loss(self, place: float) -> float:
        stretched = place if place <= 1.0 else math.exp(min(place, _CEILING) - 1.0)
        return self.best + stretched * (self.middle - self.best)


@dataclass(frozen=True)
class Foretold:
    """A low and a high best loss, one deviation off what is expected, and what it has to beat."""

    low: float
    high: float
    to_beat: float
    chance: float
    """Of ending better than that."""
    trend: float
    """The end, if each doubling of the time brings as much as the last one, on the scale."""


@dataclass(frozen=True)
class _Line:
    """A fitted regression: of columns centred and scaled."""

    centre: Floats
    widths: Floats
    level: float
    slopes: Floats
    inverse: Floats
    variance: float
    """Of curves that were left out."""

    def at(self, row: Floats) -> tuple[float, float]:
        """Mean and variance; further off where no curve was."""
        x = (row - self.centre) / self.widths
        variance = self.variance * (1.0 + float(x @ self.inverse @ x))
        return self.level + float(x @ self.slopes), variance


def foretell(own: Curve, whole: Sequence[Curve], longest: float) -> Foretold | None:
    """None: too few went on from where ``own`` is, or their ends don't differ."""
    longer = [curve for curve in whole if curve.end > own.end][-_MOST_CURVES:]
    scale = _scale_of([curve.losses[-1] for curve in whole])
    if scale is None or len(longer) < LEAST_CURVES:
        return None
    rows = _rows([*longer, own], own.end, scale)
    ends = scale.place(np.array([curve.best for curve in longer]))
    change, variance = _fit(rows[:-1], ends - rows[:-1, 0]).at(rows[-1])
    place, spread = float(rows[-1, 0]) + change, math.sqrt(variance)
    low, high = scale.loss(place - spread), scale.loss(place + spread)
    chance = float(stdtr(len(longer) - 1, -place / spread))
    best, fallen = float(rows[-1, 0]), float(rows[-1, 1])
    trend = scale.loss(best - fallen * math.log2(longest / own.end))
    return Foretold(low, high, scale.best, chance, trend)


def _scale_of(ends: Sequence[float]) -> Scale | None:
    numbers = [end for end in ends if math.isfinite(end)]
    best = min(numbers, default=math.inf)
    if max(numbers, default=best) <= best:
        return None
    middle = median(numbers)
    return Scale(best, middle if middle > best else sum(numbers) / len(numbers))


def _rows(curves: Sequence[Curve], x: float, scale: Scale) -> Floats:
    """The best by ``x``, what of that came in the second half, and the rise since."""
    best, before, last = scale.place(np.array([_known(curve, x) for curve in curves])).T
    return np.column_stack([best, before - best, last - best])


def _known(curve: Curve, x: float) -> tuple[float, float, float]:
    """The best by ``x``, the best by its half, and the last."""
    so_far = curve.until(x)
    if not so_far.xs:
        return math.inf, math.inf, math.inf
    half = so_far.until(x / 2.0).losses or so_far.losses[:1]
    return so_far.best, min(half), so_far.losses[-1]


def _fit(rows: Floats, changes: Floats) -> _Line:
    centre, widths = rows.mean(axis=0), rows.std(axis=0)
    widths = np.maximum(widths, _LEAST_WIDTH)
    columns, level = (rows - centre) / widths, float(changes.mean())
    weights, turned = np.linalg.eigh(columns.T @ columns)
    along = columns @ turned
    pull = along.T @ (changes - level)
    tried = []
    for penalty in _PENALTIES:
        shrunk = 1.0 / (np.maximum(weights, 0.0) + penalty)
        kept = 1.0 - 1.0 / len(rows) - (along**2) @ shrunk
        left_out = (changes - level - along @ (shrunk * pull)) / np.maximum(kept, 1e-3)
        tried.append((float((left_out**2).mean()), penalty))
    variance, penalty = min(tried)
    shrunk = 1.0 / (np.maximum(weights, 0.0) + penalty)
    inverse = (turned / (np.maximum(weights, 0.0) + 1.0)) @ turned.T
    slopes = turned @ (shrunk * pull)
    return _Line(centre, widths, level, slopes, inverse, variance + _LEAST_VARIANCE)
