"""The state of a curve at a step, the input of all forecasts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.tuning.axes import Floats
    from footplate.tuning.stopping.curves import Curve


@dataclass(frozen=True)
class CurveState:
    """Losses of several curves at one x, one of each for a curve; infinite where it had none."""

    first: Floats
    before: Floats
    """The best by half of the way."""
    best: Floats
    last: Floats


@dataclass(frozen=True)
class Forecast:
    """Of one curve's best loss, by the whole curves that passed the same point."""

    chance: float
    """Of becoming better than all of these."""
    low: float
    high: float
    """One deviation off what is expected."""
    told: Floats
    """The logarithms of the densities that it has for the whole curves' ends, each left out."""


def passing(curves: Sequence[Curve], x: float) -> CurveState:
    return CurveState(*np.array([_known(curve, x) for curve in curves]).T)


def density(errors: Floats, variance: float, freedom: float) -> Floats:
    """Of Student's distribution, as its logarithm."""
    level = gammaln((freedom + 1.0) / 2.0) - gammaln(freedom / 2.0)
    level -= 0.5 * math.log(freedom * math.pi * variance)
    tail = (freedom + 1.0) / 2.0 * np.log1p(errors**2 / (variance * freedom))
    return np.asarray(level - tail)


def _known(curve: Curve, x: float) -> tuple[float, float, float, float]:
    so_far = curve.until(x)
    if not so_far.xs:
        return math.inf, math.inf, math.inf, math.inf
    half = so_far.until(x / 2.0).losses or so_far.losses[:1]
    return so_far.losses[0], min(half), so_far.best, so_far.losses[-1]
