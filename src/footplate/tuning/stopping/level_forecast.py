"""Forecasts a curve's change from its current level.

A ridge regression on its best loss so far, how much of that came in the second half of its time,
and how far it has risen since. Its penalty is the one that is best on curves left out in turn, and
so is its spread, the same for all curves: where early results say nothing, or curves cross, it is
wide, and nobody has to tell it so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr

from footplate.tuning.stopping.curve_state import Forecast, density

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats
    from footplate.tuning.stopping.curve_state import CurveState
    from footplate.tuning.stopping.loss_scale import Scale

_PENALTIES = (0.03, 0.3, 3.0, 30.0, 1e6)
"""Relative to columns of variance 1; with the last one, all curves are expected to change alike."""
_MIN_VARIANCE = 1e-4
_MIN_WIDTH = 0.05
"""What no curve did is far off, however alike they are."""


@dataclass(frozen=True)
class _Line:
    """A fitted regression: of columns centred and scaled."""

    centre: Floats
    widths: Floats
    level: float
    slopes: Floats
    inverse: Floats
    left_out: Floats
    """How far off it is on curves that were left out."""

    @property
    def variance(self) -> float:
        return float((self.left_out**2).mean()) + _MIN_VARIANCE

    def at(self, row: Floats) -> tuple[float, float]:
        """Mean and variance; further off where no curve was."""
        x = (row - self.centre) / self.widths
        variance = self.variance * (1.0 + float(x @ self.inverse @ x))
        return self.level + float(x @ self.slopes), variance


def by_levels(own: CurveState, whole: CurveState, ends: Floats, scale: Scale) -> Forecast:
    rows, places = _rows(whole, scale), scale.place(ends)
    line, mine = _fit(rows, places - rows[:, 0]), _rows(own, scale)[0]
    change, variance = line.at(mine)
    place, spread = float(mine[0]) + change, math.sqrt(variance)
    freedom = len(rows) - 1
    told = density(line.left_out, line.variance, freedom) + scale.steepness(places)
    chance = float(stdtr(freedom, -place / spread))
    return Forecast(chance, scale.loss(place - spread), scale.loss(place + spread), told)


def trend(own: CurveState, scale: Scale, doublings: float) -> float:
    """The end, if each doubling of the time brings as much as the last one, on the scale."""
    best, fallen, _ = _rows(own, scale)[0]
    return scale.loss(float(best - fallen * doublings))


def _rows(curves: CurveState, scale: Scale) -> Floats:
    """The best, what of that came in the second half, and the rise since."""
    best, before, last = map(scale.place, (curves.best, curves.before, curves.last))
    return np.column_stack([best, before - best, last - best])


def _fit(rows: Floats, changes: Floats) -> _Line:
    centre, widths = rows.mean(axis=0), rows.std(axis=0)
    widths = np.maximum(widths, _MIN_WIDTH)
    columns, level = (rows - centre) / widths, float(changes.mean())
    weights, turned = np.linalg.eigh(columns.T @ columns)
    weights = np.maximum(weights, 0.0)
    along = columns @ turned
    pull = along.T @ (changes - level)
    tried = []
    for penalty in _PENALTIES:
        shrunk = 1.0 / (weights + penalty)
        kept = 1.0 - 1.0 / len(rows) - (along**2) @ shrunk
        left_out = (changes - level - along @ (shrunk * pull)) / np.maximum(kept, 1e-3)
        tried.append((left_out, turned @ (shrunk * pull)))
    left_out, slopes = min(tried, key=lambda one: float((one[0] ** 2).mean()))
    inverse = (turned / (weights + 1.0)) @ turned.T
    return _Line(centre, widths, level, slopes, inverse, left_out)
