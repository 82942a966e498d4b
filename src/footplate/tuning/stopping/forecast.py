"""Forecasts a trial's end from complete curves that passed the same point.

Two forecasts, of how much a curve still changes (levels) and of how many times its recent fall it
still falls (falls), count by how well each foretells whole curves that it wasn't fitted to. Early,
and where curves cross, that is mostly the first; later, where falls flatten out, the second.

Levels: a ridge regression on the best loss so far, how much of that came in the second half of its
time, and how far it has risen since. Its penalty is the best one on curves left out in turn, and so
is its spread, the same for all curves: where early results say nothing, or curves cross, it is
wide, and nobody has to tell it so.

Falls: a Bayesian regression of the logarithm of that ratio, on how much the curve fell in the
second half of its time, how far it is from the best end, and how much it fell in all. So its spread
is a part of the fall: what hardly falls any more is known to the digit, what falls fast isn't. Its
beliefs stand for two further curves, off by a factor of e^0.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, stdtr

from footplate.tuning.stopping.curves import (
    Curve,
    CurveState,
    Forecast,
    Scale,
    density,
    passing,
    scale_of,
)

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_LEVEL_PENALTIES = (0.03, 0.3, 3.0, 30.0, 1e6)
"""Relative to columns of variance 1; with the last one, all curves are expected to change alike."""
_MIN_VARIANCE = 1e-4
_MIN_WIDTH = 0.05
"""What no curve did is far off, however alike they are."""
_FLOOR = 0.03
"""Of the scale: falls below it are taken for noise."""
_FAR = math.exp(7.0)
"""Of the scale: losses that far from the best end don't differ."""
_BELIEVED_CURVES, _BELIEVED_DEVIATION = 2.0, 0.5
_LEVEL_PENALTY, _PENALTY = 0.3, 3.0
MIN_CURVES = 5
"""Fewer say little of how far forecasts are off."""
_MOST_CURVES = 200
_WEIGHT = 0.5
"""Of the evidence for one of the two: whole curves are few, and like each other."""
_MOST_EVIDENCE = 3.0
"""Of a single curve."""
_SURE = 1e-6


@dataclass(frozen=True)
class _LevelLine:
    """A fitted linear regression, of columns that are centred and scaled."""

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
        """Returns the mean and the variance, which grows with the distance from known curves."""
        x = (row - self.centre) / self.widths
        variance = self.variance * (1.0 + float(x @ self.inverse @ x))
        return self.level + float(x @ self.slopes), variance


def by_levels(own: CurveState, whole: CurveState, ends: Floats, scale: Scale) -> Forecast:
    rows, places = _rows(whole, scale), scale.place(ends)
    line, mine = _fit_level(rows, places - rows[:, 0]), _rows(own, scale)[0]
    change, variance = line.at(mine)
    place, spread = float(mine[0]) + change, math.sqrt(variance)
    freedom = len(rows) - 1
    likelihood = density(line.left_out, line.variance, freedom) + scale.steepness(places)
    chance = float(stdtr(freedom, -place / spread))
    return Forecast(chance, scale.loss(place - spread), scale.loss(place + spread), likelihood)


def trend(own: CurveState, scale: Scale, doublings: float) -> float:
    """Returns the final loss if each doubling of the time gains as much as the last one."""
    best, fallen, _ = _rows(own, scale)[0]
    return scale.loss(float(best - fallen * doublings))


def _rows(curves: CurveState, scale: Scale) -> Floats:
    """Returns columns: the best loss, the second half's part of it, and the rise since."""
    best, before, last = map(scale.place, (curves.best, curves.before, curves.last))
    return np.column_stack([best, before - best, last - best])


def _fit_level(rows: Floats, changes: Floats) -> _LevelLine:
    centre, widths = rows.mean(axis=0), rows.std(axis=0)
    widths = np.maximum(widths, _MIN_WIDTH)
    columns, level = (rows - centre) / widths, float(changes.mean())
    weights, turned = np.linalg.eigh(columns.T @ columns)
    weights = np.maximum(weights, 0.0)
    along = columns @ turned
    pull = along.T @ (changes - level)
    tried = []
    for penalty in _LEVEL_PENALTIES:
        shrunk = 1.0 / (weights + penalty)
        kept = 1.0 - 1.0 / len(rows) - (along**2) @ shrunk
        left_out = (changes - level - along @ (shrunk * pull)) / np.maximum(kept, 1e-3)
        tried.append((left_out, turned @ (shrunk * pull)))
    left_out, slopes = min(tried, key=lambda one: float((one[0] ** 2).mean()))
    inverse = (turned / (weights + 1.0)) @ turned.T
    return _LevelLine(centre, widths, level, slopes, inverse, left_out)


@dataclass(frozen=True)
class _FallLine:
    centre: Floats
    slopes: Floats
    inverse: Floats
    variance: float
    left_out: Floats
    left_out_variance: float

    def at(self, columns: Floats) -> tuple[float, float]:
        x = np.append(1.0, columns - self.centre)
        return float(x @ self.slopes), self.variance * (1.0 + float(x @ self.inverse @ x))


def by_falls(own: CurveState, whole: CurveState, ends: Floats, scale: Scale) -> Forecast:
    here, floor = float(_clipped(own.best, scale)[0]), _FLOOR * scale.unit
    drops = _fallen(whole.best, ends, scale)
    fall, columns = _fall_columns(whole, scale)
    line = _fit_fall(columns, np.log(drops / fall))
    my_fall, mine = (values[0] for values in _fall_columns(own, scale))
    ratio, variance = line.at(mine)
    freedom, spread = _BELIEVED_CURVES + len(drops), math.sqrt(variance)
    likelihood = density(line.left_out, line.left_out_variance, freedom) - np.log(drops)
    wanted = math.log(_fallen(own.best, np.array(scale.best), scale)[0] / my_fall)
    chance = float(stdtr(freedom, (ratio - wanted) / spread))
    low, high = (
        here - max(float(my_fall) * math.exp(ratio + by) - floor, 0.0) for by in (spread, -spread)
    )
    return Forecast(chance, low, high, likelihood)


def _fall_columns(curves: CurveState, scale: Scale) -> tuple[Floats, Floats]:
    """Returns recent falls, and columns that may predict the ratio of later falls to them."""
    fall = _fallen(curves.before, curves.best, scale)
    in_all = _fallen(curves.first, curves.best, scale)
    ahead = _fallen(curves.best, np.array(scale.best), scale)
    columns = [np.log(fall / scale.unit), np.log(ahead / scale.unit), np.log(in_all / fall)]
    return fall, np.column_stack(columns)


def _fallen(start: Floats, end: Floats, scale: Scale) -> Floats:
    """Returns how far losses fell, with a minimum so that they have logarithms."""
    fallen = np.maximum(_clipped(start, scale) - _clipped(end, scale), 0.0)
    return np.asarray(fallen + _FLOOR * scale.unit)


def _clipped(losses: Floats, scale: Scale) -> Floats:
    reach = _FAR * scale.unit
    return np.clip(losses, scale.best - reach, scale.best + reach)


def _fit_fall(columns: Floats, ratios: Floats) -> _FallLine:
    centre = columns.mean(axis=0)
    rows = np.column_stack([np.ones(len(columns)), columns - centre])
    beliefs = np.diag([_LEVEL_PENALTY, *[_PENALTY] * columns.shape[1]])
    inverse = np.linalg.inv(rows.T @ rows + beliefs)
    slopes = inverse @ (rows.T @ ratios)
    errors = ratios - rows @ slopes
    left_out = errors / np.maximum(1.0 - ((rows @ inverse) * rows).sum(axis=1), 1e-3)
    penalty = float(slopes @ beliefs @ slopes)
    return _FallLine(
        centre,
        slopes,
        inverse,
        _variance(float(errors @ errors) + penalty, len(rows)),
        left_out,
        _variance(float(left_out @ left_out), len(rows)),
    )


def _variance(squares: float, count: int) -> float:
    believed = _BELIEVED_CURVES * _BELIEVED_DEVIATION**2
    return (believed + squares) / (_BELIEVED_CURVES + count)


@dataclass(frozen=True)
class ForecastResult:
    """A forecast of the best loss, with the loss to beat.

    ``low`` and ``high`` are one deviation from the expected value.
    """

    low: float
    high: float
    to_beat: float
    chance: float
    """Of ending better than that."""
    trend: float
    """The end, if each doubling of the time brings as much as the last one."""


def forecast_end(own: Curve, whole: Sequence[Curve], longest: float) -> ForecastResult | None:
    """Forecasts a curve's end; None: too few curves went further, or their ends don't differ."""
    longer = [curve for curve in whole if curve.end > own.end][-_MOST_CURVES:]
    scale = scale_of([curve.losses[-1] for curve in whole])
    if scale is None or len(longer) < MIN_CURVES:
        return None
    ends = np.array([curve.best for curve in longer])
    mine, others = passing([own], own.end), passing(longer, own.end)
    level = by_levels(mine, others, ends, scale)
    fall = by_falls(mine, others, ends, scale)
    weight = _weight(fall, level)
    likelier = fall if weight > 0.5 else level
    chance = _mixed(fall.chance, level.chance, weight)
    led_to = trend(mine, scale, math.log2(longest / own.end))
    return ForecastResult(likelier.low, likelier.high, scale.best, chance, led_to)


def _weight(one: Forecast, other: Forecast) -> float:
    """Returns the weight of ``one``, from 0 to 1, by how well both predicted the whole curves."""
    evidence = np.clip(one.told - other.told, -_MOST_EVIDENCE, _MOST_EVIDENCE)
    return float(expit(_WEIGHT * evidence.sum()))


def _mixed(one: float, other: float, weight: float) -> float:
    """Mixes two chances by their logits, so that one near 0 isn't raised to half the other."""
    logits = logit(np.clip([one, other], _SURE, 1.0 - _SURE))
    return float(expit(weight * logits[0] + (1.0 - weight) * logits[1]))
