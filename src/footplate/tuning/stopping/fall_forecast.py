"""Forecasts a curve's end by its recent decrease.

A Bayesian regression of the logarithm of that ratio, on how much the curve fell in the second half
of its time, how far it is from the best end, and how much it fell in all. So its spread is a part
of the fall: what hardly falls any more is known to the digit, what falls fast isn't. Its beliefs
stand for two further curves, off by a factor of e^0.5.
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

_FLOOR = 0.03
"""Of the scale: falls below it are taken for noise."""
_FAR = math.exp(7.0)
"""Of the scale: losses that far from the best end don't differ."""
_BELIEVED_CURVES, _BELIEVED_DEVIATION = 2.0, 0.5
_LEVEL_PENALTY, _PENALTY = 0.3, 3.0


@dataclass(frozen=True)
class _Line:
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
    fall, columns = _columns(whole, scale)
    line = _fit(columns, np.log(drops / fall))
    my_fall, mine = (values[0] for values in _columns(own, scale))
    ratio, variance = line.at(mine)
    freedom, spread = _BELIEVED_CURVES + len(drops), math.sqrt(variance)
    told = density(line.left_out, line.left_out_variance, freedom) - np.log(drops)
    wanted = math.log(_fallen(own.best, np.array(scale.best), scale)[0] / my_fall)
    chance = float(stdtr(freedom, (ratio - wanted) / spread))
    low, high = (
        here - max(float(my_fall) * math.exp(ratio + by) - floor, 0.0) for by in (spread, -spread)
    )
    return Forecast(chance, low, high, told)


def _columns(curves: CurveState, scale: Scale) -> tuple[Floats, Floats]:
    """Recent falls, and what the ratio may depend on."""
    fall = _fallen(curves.before, curves.best, scale)
    in_all = _fallen(curves.first, curves.best, scale)
    ahead = _fallen(curves.best, np.array(scale.best), scale)
    columns = [np.log(fall / scale.unit), np.log(ahead / scale.unit), np.log(in_all / fall)]
    return fall, np.column_stack(columns)


def _fallen(start: Floats, end: Floats, scale: Scale) -> Floats:
    """At least the floor, so that it has a logarithm."""
    fallen = np.maximum(_clipped(start, scale) - _clipped(end, scale), 0.0)
    return np.asarray(fallen + _FLOOR * scale.unit)


def _clipped(losses: Floats, scale: Scale) -> Floats:
    reach = _FAR * scale.unit
    return np.clip(losses, scale.best - reach, scale.best + reach)


def _fit(columns: Floats, ratios: Floats) -> _Line:
    centre = columns.mean(axis=0)
    rows = np.column_stack([np.ones(len(columns)), columns - centre])
    beliefs = np.diag([_LEVEL_PENALTY, *[_PENALTY] * columns.shape[1]])
    inverse = np.linalg.inv(rows.T @ rows + beliefs)
    slopes = inverse @ (rows.T @ ratios)
    errors = ratios - rows @ slopes
    left_out = errors / np.maximum(1.0 - ((rows @ inverse) * rows).sum(axis=1), 1e-3)
    penalty = float(slopes @ beliefs @ slopes)
    return _Line(
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
