"""Forecasts a trial's end from complete curves that passed the same point.

Two forecasts, of how much a curve still changes (``levels``) and of how many times its recent fall
it still falls (``falls``), count by how well each foretells whole curves that it wasn't fitted to.
Early, and where curves cross, that is mostly the first; later, where falls flatten out, the second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit

from footplate.tuning.stopping.curve_state import passing
from footplate.tuning.stopping.fall_forecast import by_falls
from footplate.tuning.stopping.level_forecast import by_levels, trend
from footplate.tuning.stopping.loss_scale import scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.tuning.stopping.curve_state import Forecast
    from footplate.tuning.stopping.curves import Curve

MIN_CURVES = 5
"""Fewer say little of how far forecasts are off."""
_MOST_CURVES = 200
_WEIGHT = 0.5
"""Of the evidence for one of the two: whole curves are few, and like each other."""
_MOST_EVIDENCE = 3.0
"""Of a single curve."""
_SURE = 1e-6


@dataclass(frozen=True)
class ForecastResult:
    """A low and a high best loss, one deviation off what is expected, and what it has to beat."""

    low: float
    high: float
    to_beat: float
    chance: float
    """Of ending better than that."""
    trend: float
    """The end, if each doubling of the time brings as much as the last one."""


def forecast_end(own: Curve, whole: Sequence[Curve], longest: float) -> ForecastResult | None:
    """None: too few went on from where ``own`` is, or their ends don't differ."""
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
    """Of the one, 0 to 1, by what it told of each whole curve."""
    evidence = np.clip(one.told - other.told, -_MOST_EVIDENCE, _MOST_EVIDENCE)
    return float(expit(_WEIGHT * evidence.sum()))


def _mixed(one: float, other: float, weight: float) -> float:
    """By their logits: a chance of nearly nothing isn't nearly half of the other one."""
    logits = logit(np.clip([one, other], _SURE, 1.0 - _SURE))
    return float(expit(weight * logits[0] + (1.0 - weight) * logits[1]))
