"""Explains why a point was suggested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from footplate.domain.formatting import joined
from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.trials import Trial
from footplate.tuning.designer import Explanation, Prediction, Reason
from footplate.tuning.encoding import Encoding

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats
    from footplate.tuning.bayesian.surrogate import Surrogate

_KNOWN = 0.5
"""Where less than this part of what could vary is open, the model knows what to expect."""


@dataclass(frozen=True)
class NearbyTrial:
    """One of the best trials, to which the distance of a suggested point is measured.

    ``row`` is its encoded point. ``earlier`` means that the trial is of an earlier search, which
    has numbers of its own.
    """

    trial: Trial
    row: Floats
    earlier: bool = False


def explain(
    encoding: Encoding,
    surrogates: Sequence[Surrogate],
    metrics: Sequence[Metric],
    row: Floats,
    best: Sequence[NearbyTrial],
    because: str = "",
) -> Explanation:
    """Explains why the point of ``row`` was suggested.

    ``best`` has the best trial so far, or all Pareto-optimal ones. ``because`` says why the search
    explores, if that isn't the model's decision.
    """
    found = [surrogate.predict(row[None, :]) for surrogate in surrogates]
    expected = [(float(mean[0]), float(spread[0])) for mean, spread in found]
    predictions = tuple(
        predicted(surrogate, metric, *of)
        for surrogate, metric, of in zip(surrogates, metrics, expected, strict=True)
    )
    spreads = zip(surrogates, expected, strict=True)
    unknown = max(surrogate.unknown(spread) for surrogate, (_, spread) in spreads)
    explores = bool(because) or unknown > _KNOWN
    reason = Reason.EXPLORE if explores else Reason.EXPLOIT
    away, near = min(
        ((distance(encoding, row, one.row), one) for one in best), key=lambda pair: pair[0]
    )
    ranges = joined([f"{p.metric} between {p.low:.4g} and {p.high:.4g}" for p in predictions])
    place = f"{away:.0%} of the ranges away from {_named(near, metrics)}"
    why = f"{because}; " if because else ""
    sentence = f"{reason.value}s: {why}expects {ranges}, {place}"
    return Explanation(reason, sentence, predictions, away)


def _named(near: NearbyTrial, metrics: Sequence[Metric]) -> str:
    values = near.trial.values(metrics) or ()
    number = f"{near.trial.number} of an earlier search" if near.earlier else near.trial.number
    if len(values) == 1:
        return f"trial {number}, the best so far with {values[0]:.4g}"
    shown = ", ".join(f"{value:.4g}" for value in values)
    return f"trial {number} ({shown}), the nearest of the best trials"


def predicted(surrogate: Surrogate, metric: Metric, mean: float, spread: float) -> Prediction:
    ends = sorted(surrogate.value(metric, mean + side * spread) for side in (-1.0, 1.0))
    return Prediction(metric.name, surrogate.value(metric, mean), ends[0], ends[1])


def distance(encoding: Encoding, one: Floats, other: Floats) -> float:
    """Returns the mean distance over slots; 1 for a different category or an inactive slot."""
    apart = np.where(encoding.categorical, (one != other).astype(np.float64), np.abs(one - other))
    absent = np.isnan(one) & np.isnan(other)
    return float(np.where(absent, 0.0, np.nan_to_num(apart, nan=1.0)).mean())
