"""The decay curve rule: compares with how finished curves went on.

A Gaussian process is asked for the trial's final loss, after the finished trials: for each, its
best loss by that point, how much of that came in the second half, and where it ended. The trial
stops when it is very unlikely to become the best. Source of the rule: Golovin et al., "Google
Vizier: A Service for Black-Box Optimization", 2017, section 3.2.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from footplate.domain.studies.trials import Trial
from footplate.tuning.gaussian.fitting import Beliefs, Evidence, fit
from footplate.tuning.gaussian.posterior import matern, squared_distances
from footplate.tuning.stopping.curves import Curve, Ruler, whole_curves

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

MIN_CURVES = 5
_GRACE = 0.3
"""Of the longest curve: before that nothing is foretold."""
_UNLIKELY = 0.003
"""A margin: few finished curves make the process surer than it should be."""
_MOST_CURVES = 200
_ITERATIONS = 30


@dataclass(frozen=True)
class DecayCurveRule:
    ruler: Ruler

    def reason_to_stop(self, trial: Trial, others: Sequence[Trial]) -> str:
        own = self.ruler.curve(trial)
        whole = whole_curves(self.ruler, others)
        longest = max((curve.end for curve in whole), default=0.0)
        longer = [c for c in whole if c.end > own.end and math.isfinite(c.until(own.end).best)]
        if len(longer) < MIN_CURVES or own.end < _GRACE * longest:
            return ""
        best = min(curve.best for curve in whole)
        if not math.isfinite(own.best):
            return f"{self.ruler.at(own.end)}: the trial's values are not numbers"
        mean, spread = _foretell(own, longer[-_MOST_CURVES:])
        likely = float(ndtr((best - mean) / spread))
        if likely >= _UNLIKELY or own.best <= best:
            return ""
        shown = self.ruler.shown(own.best)
        forecasted = f"expected to end at {self.ruler.shown(mean)} (± {spread:.2g})"
        to_beat = f"the best of {len(whole)} finished trials has {self.ruler.shown(best)}"
        return f"{self.ruler.at(own.end)}: {shown}, {forecasted}, and {to_beat}"


def _foretell(own: Curve, curves: Sequence[Curve]) -> tuple[float, float]:
    """Predicts the mean and standard deviation of the trial's final loss."""
    known = np.array([_features(curve, own.end) for curve in curves])
    drops = np.array([curve.best - curve.until(own.end).best for curve in curves])
    asked = np.array([_features(own, own.end)])
    centre, scale = known.mean(axis=0), _spread(known)
    centre_drop, scale_drop = drops.mean(), float(_spread(drops[:, None])[0])
    mean, spread = _regress(
        (known - centre) / scale, (drops - centre_drop) / scale_drop, (asked - centre) / scale
    )
    drop = min(0.0, centre_drop + mean * scale_drop)
    return own.best + drop, max(spread * scale_drop, 1e-12 * max(1.0, abs(own.best)))


def _regress(known: Floats, y: Floats, asked: Floats) -> tuple[float, float]:
    """Predicts the end of one trial, with the noise of one measurement included in the spread."""
    owners = np.arange(known.shape[1])
    beliefs = Beliefs(len(owners), noisy=True)
    hyper = fit(Evidence(known, owners, y, beliefs), beliefs, [beliefs.centre], _ITERATIONS)
    lengths = np.array(hyper.lengths)
    near, at = known / lengths, asked / lengths
    covariance = hyper.signal * matern(squared_distances(near, near))
    covariance += (hyper.noise + 1e-8) * np.eye(len(y))
    across = hyper.signal * matern(squared_distances(at, near))[0]
    variance = hyper.signal - across @ np.linalg.solve(covariance, across) + hyper.noise
    return float(across @ np.linalg.solve(covariance, y)), math.sqrt(max(float(variance), 1e-12))


def _features(curve: Curve, x: float) -> tuple[float, float]:
    """Returns the best loss up to ``x``, and what the second half of the time gained."""
    so_far = curve.until(x)
    half = curve.until(x / 2.0)
    gained = half.best - so_far.best
    return so_far.best, gained if math.isfinite(gained) else 0.0


def _spread(columns: Floats) -> Floats:
    found = columns.std(axis=0)
    return np.where(found > 0.0, found, 1.0)
