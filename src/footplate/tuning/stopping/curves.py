"""A trial's reports as a curve of losses (smaller is better), and its state at a step."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.trials import Trial, TrialState

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_MOST = 1e100
"""Values beyond it come from trainings that have diverged, and would break sums."""
_JUDGES = 8
"""So many of the first whole curves are asked: none of them was chosen by a rule."""
_MIN_AGREEMENT = 0.4
"""Of the order at a point and the order at the end: Spearman's coefficient, -1 to 1."""
_CEILING = 8.0
"""Of the scale: e^7 times as far from the best as the middle is."""


@dataclass(frozen=True)
class Curve:
    """A trial's losses over steps or time; ``xs`` don't decrease.

    A value that isn't a number, or is huge, counts as an infinite loss.
    """

    xs: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def end(self) -> float:
        return self.xs[-1] if self.xs else 0.0

    def until(self, x: float) -> Curve:
        count = bisect_right(self.xs, x)
        return Curve(self.xs[:count], self.losses[:count])

    @property
    def best(self) -> float:
        return min(self.losses, default=math.inf)

    @property
    def standing(self) -> float:
        """Returns the best loss; infinite if the last value isn't a number."""
        return self.best if self.losses and math.isfinite(self.losses[-1]) else math.inf

    @property
    def mean(self) -> float:
        """Returns the mean of the finite losses; infinite if there are none."""
        finite = [loss for loss in self.losses if math.isfinite(loss)]
        return sum(finite) / len(finite) if finite else math.inf


@dataclass(frozen=True)
class Ruler:
    """A rule's view of trials: one metric, over steps or over elapsed seconds."""

    metric: Metric
    use_elapsed: bool = False

    def curve(self, trial: Trial) -> Curve:
        found = []
        for measurement in trial.measurements:
            value = measurement.values.get(self.metric.name)
            if value is not None:
                x = measurement.elapsed_s if self.use_elapsed else float(measurement.step)
                found.append((x, self.metric.loss(value) if abs(value) < _MOST else math.inf))
        found.sort()
        return Curve(tuple(x for x, _ in found), tuple(loss for _, loss in found))

    def at(self, x: float) -> str:
        """Formats a position: ``at step 40``, or ``after 40 s``."""
        return f"after {x:.0f} s" if self.use_elapsed else f"at step {x:.0f}"

    def shown(self, loss: float) -> str:
        return f"{self.metric.value(loss):.4g}" if math.isfinite(loss) else "no number"

    def worse(self) -> str:
        """Returns on which side bad values lie: ``above`` or ``below``."""
        return "above" if self.metric.loss(1.0) > 0 else "below"


def whole_curves(ruler: Ruler, trials: Sequence[Trial]) -> list[Curve]:
    """Returns the curves of trials that ran to their own end with a value: full lengths."""
    ordered = sorted(trials, key=lambda trial: trial.number)
    curves = [ruler.curve(trial) for trial in ordered if ran_whole(trial)]
    return [curve for curve in curves if math.isfinite(curve.best)]


def order_holds(whole: Sequence[Curve], x: float) -> bool:
    """Returns whether curves have about the same order at ``x`` as at their end.

    The result is also true if all are equal at either point. ``whole`` is in the order of the
    trials' numbers; only the first curves are used.
    """
    whole = whole[:_JUDGES]
    then = _ranks(np.array([curve.until(x).standing for curve in whole]))
    last = _ranks(np.array([curve.losses[-1] for curve in whole]))
    spread = float(then.std() * last.std())
    if spread == 0.0:
        return True
    agreement = float(((then - then.mean()) * (last - last.mean())).mean()) / spread
    return agreement >= _MIN_AGREEMENT


def _ranks(values: Floats) -> Floats:
    """Returns the rank of each value; equal values share their mean rank."""
    less = (values[None, :] < values[:, None]).sum(axis=1)
    equal = (values[None, :] == values[:, None]).sum(axis=1)
    return np.asarray(less + equal / 2.0)


def ran_whole(trial: Trial) -> bool:
    return trial.state is TrialState.SUCCEEDED and not trial.stopped_early


@dataclass(frozen=True)
class CurveState:
    """The losses of several curves at one x, one each; infinite if a curve has none."""

    first: Floats
    before: Floats
    """The best by half of the way."""
    best: Floats
    last: Floats


@dataclass(frozen=True)
class Forecast:
    """A forecast of a curve's best loss, from the whole curves that passed the same point."""

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
    """Returns the logarithm of the density of Student's distribution."""
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


@dataclass(frozen=True)
class Scale:
    """A scale for losses: 0 is the best end of a whole curve, 1 the middle one.

    Worse losses count by their logarithm, as differences between bad trials hardly matter.
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
        """Returns the logarithm of the rate at which a place changes with the loss."""
        return -math.log(self.unit) - np.maximum(places - 1.0, 0.0)


def scale_of(ends: Sequence[float]) -> Scale | None:
    """Makes the scale of the ends of curves; None: the ends don't differ."""
    numbers = [end for end in ends if math.isfinite(end)]
    best = min(numbers, default=math.inf)
    if max(numbers, default=best) <= best:
        return None
    middle = median(numbers)
    return Scale(best, middle if middle > best else sum(numbers) / len(numbers))
