"""Why a point, in words and numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate.tuning.designer import Explanation, Prediction, Reason

if TYPE_CHECKING:
    from footplate.domain.studies.metrics import Metric
    from footplate.domain.studies.trials import Trial
    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.surrogate import Surrogate
    from footplate.tuning.encoding import Encoding

_KNOWN = 0.5
"""Where less than this part of what could vary is open, the model knows what to expect."""


def explain(
    encoding: Encoding,
    surrogate: Surrogate,
    metric: Metric,
    row: Floats,
    best: tuple[Trial, Floats],
) -> Explanation:
    """``best``: the best trial so far, and its row."""
    mean, spread = (float(found[0]) for found in surrogate.predict(row[None, :]))
    prediction = predicted(surrogate, metric, mean, spread)
    reason = Reason.EXPLORE if surrogate.unknown(spread) > _KNOWN else Reason.EXPLOIT
    trial, at = best
    away = distance(encoding, row, at)
    sentence = (
        f"{reason.value}: {metric.name} is expected between {prediction.low:.4g} and"
        f" {prediction.high:.4g}, {away:.0%} of the axes away from trial {trial.number},"
        f" the best so far with {trial.value(metric):.4g}"
    )
    return Explanation(reason, sentence, (prediction,), away)


def predicted(surrogate: Surrogate, metric: Metric, mean: float, spread: float) -> Prediction:
    ends = sorted(surrogate.value(metric, mean + side * spread) for side in (-1.0, 1.0))
    return Prediction(metric.name, surrogate.value(metric, mean), ends[0], ends[1])


def distance(encoding: Encoding, one: Floats, other: Floats) -> float:
    """Mean over all slots; 1 for another category, or one that isn't active there."""
    apart = np.where(encoding.categorical, (one != other).astype(np.float64), np.abs(one - other))
    absent = np.isnan(one) & np.isnan(other)
    return float(np.where(absent, 0.0, np.nan_to_num(apart, nan=1.0)).mean())
