"""The convex rule: extrapolates the trial's own curve.

A power law, loss(x) = a + b x^-c with b not negative, is fitted to what the trial reported, and
followed to the last step. How far such forecasts were off for finished trials, at the same step,
corrects it and says how sure it is; trials of a like learning rate weigh more, where its parameter
is named. Source of the law: Domhan et al., "Speeding up Automatic Hyperparameter Optimization of
Deep Neural Networks by Extrapolation of Learning Curves", 2015 (pow3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from footplate.domain.studies.stopping import ConvexSpec
from footplate.domain.studies.trials import Trial
from footplate.tuning.stopping.curves import Curve, Ruler, whole_curves

_POWERS = np.geomspace(0.05, 4.0, 24)
_MIN_FINISHED = 3
_MIN_WHOLE = 5
"""Fewer whole curves than these stop no trial, as with the other rules."""
_SURE = 2.0
"""How many standard deviations worse than the best a trial is foretold to end before it stops."""


@dataclass(frozen=True)
class Forecast:
    loss: float
    spread: float


@dataclass(frozen=True)
class ConvexRule:
    ruler: Ruler
    spec: ConvexSpec

    def reason_to_stop(self, trial: Trial, others: Sequence[Trial]) -> str:
        own = self.ruler.curve(trial)
        forecast = self.forecast(trial, others)
        whole = whole_curves(self.ruler, others)
        if forecast is None or len(whole) < _MIN_WHOLE:
            return ""
        best = min(curve.best for curve in whole)
        if own.best <= best or forecast.loss - _SURE * forecast.spread <= best:
            return ""
        at, shown = self.ruler.at(own.end), self.ruler.shown(own.best)
        forecasted = (
            f"expected to reach {self.ruler.shown(forecast.loss)} (± {forecast.spread:.2g})"
        )
        to_beat = f"the best of {len(whole)} finished trials has {self.ruler.shown(best)}"
        return f"{at}: {shown}, {forecasted}, and {to_beat}"

    def forecast(self, trial: Trial, others: Sequence[Trial]) -> Forecast | None:
        """Forecasts the end of a trial; None: it is too early.

        With ``update_all_stopped`` the forecast replaces the final value of a stopped trial.
        """
        own = _finite(self.ruler.curve(trial))
        last = self._last(others)
        if last is None or own.end < self._first(last):
            return None
        if len(own.xs) < max(self.spec.min_measurements, 3) or own.end >= last:
            return None
        loss, rough = _extrapolate(own, last)
        off = self._errors(trial, others, own.end)
        if len(off) < _MIN_FINISHED:
            return Forecast(loss, rough)
        weights, errors = np.array(off).T
        bias = float(np.average(errors, weights=weights))
        spread = math.sqrt(float(np.average((errors - bias) ** 2, weights=weights)))
        return Forecast(loss + bias, max(spread, 1e-12))

    def _last(self, others: Sequence[Trial]) -> float | None:
        if self.spec.max_step is not None:
            return float(self.spec.max_step)
        return max((c.end for c in whole_curves(self.ruler, others)), default=None)

    def _first(self, last: float) -> float:
        return last / 10.0 if self.spec.min_step is None else float(self.spec.min_step)

    def _errors(self, trial: Trial, others: Sequence[Trial], x: float) -> list[tuple[float, float]]:
        """Returns weight and error of forecasts at ``x``, of finished trials that went further."""
        found = []
        for other in others:
            for curve in whole_curves(self.ruler, [other]):
                part, whole = _finite(curve.until(x)), _finite(curve)
                if whole.end > x and len(part.xs) >= 3:
                    loss, _ = _extrapolate(part, whole.end)
                    found.append((self._likeness(trial, other), whole.losses[-1] - loss))
        return found

    def _likeness(self, one: Trial, other: Trial) -> float:
        """Returns how alike two learning rates are: 1 for equal ones, 0.6 for a factor of ten."""
        name = self.spec.learning_rate
        mine, its = one.point.get(name), other.point.get(name)
        if not isinstance(mine, int | float) or not isinstance(its, int | float):
            return 1.0
        if mine <= 0 or its <= 0:
            return 1.0
        return math.exp(-0.5 * math.log10(mine / its) ** 2) + 1e-6


def _finite(curve: Curve) -> Curve:
    kept = [(x, y) for x, y in zip(curve.xs, curve.losses, strict=True) if math.isfinite(y)]
    return type(curve)(tuple(x for x, _ in kept), tuple(y for _, y in kept))


def _extrapolate(curve: Curve, to: float) -> tuple[float, float]:
    """Returns the loss at ``to`` and the spread of residuals, by the power that fits best."""
    xs, losses = np.array(curve.xs), np.array(curve.losses)
    scale = max(float(xs[-1]), 1e-12)
    first = xs[xs > 0.0].min(initial=scale)
    best = (math.inf, float(losses[-1]))
    for power in _POWERS:
        column = (np.maximum(xs, first) / scale) ** -power
        design = np.column_stack([np.ones_like(column), column])
        (level, height), *_ = np.linalg.lstsq(design, losses, rcond=None)
        if height < 0.0:
            level, height = float(losses.mean()), 0.0
        error = float(((design @ (level, height) - losses) ** 2).mean())
        if error < best[0]:
            best = error, float(level + height * (to / scale) ** -power)
    return best[1], math.sqrt(best[0])
