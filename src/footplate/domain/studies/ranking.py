"""Ranks the trials of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from footplate.domain.studies.metrics import Metric
from footplate.domain.studies.trials import Trial


@dataclass(frozen=True)
class Best:
    trial: Trial
    tie: str = ""
    """Why this one, where others are as good; empty: none is."""


def best(trials: Sequence[Trial], metric: Metric) -> Best | None:
    """Returns the best trial; None: no trial has a value.

    Of equal trials the cheaper one counts, so that nobody pays for 20 machines what 8 achieve; then
    the earlier.
    """
    ordered = [t for t in by_rank(trials, metric) if t.value(metric) is not None]
    if not ordered:
        return None
    first = ordered[0]
    equal = [t for t in ordered[1:] if t.value(metric) == first.value(metric)]
    return Best(first, _tie(first, equal))


def by_rank(trials: Sequence[Trial], metric: Metric) -> list[Trial]:
    """Sorts trials, best first; trials without a value come last, in order of their numbers."""
    return sorted(trials, key=lambda trial: _rank(trial, metric))


def pareto_optimal(trials: Sequence[Trial], metrics: Sequence[Metric]) -> list[Trial]:
    """Returns the Pareto-optimal trials: none is as good in all metrics and better in one.

    The order is by number. With one metric these are all trials that share the best value.
    """
    whole = [(trial, trial.values(metrics)) for trial in sorted(trials, key=lambda t: t.number)]
    losses = [
        (trial, tuple(m.loss(v) for m, v in zip(metrics, values, strict=True)))
        for trial, values in whole
        if values is not None
    ]
    return [one for one, mine in losses if not any(_dominates(other, mine) for _, other in losses)]


def _rank(trial: Trial, metric: Metric) -> tuple[float, float, int]:
    value = trial.value(metric)
    if value is None:
        return math.inf, 0.0, trial.number
    return metric.loss(value), trial.machine_s, trial.number


def _tie(first: Trial, equal: Sequence[Trial]) -> str:
    if not equal:
        return ""
    others = f"{len(equal)} other trials are" if len(equal) > 1 else f"trial {equal[0].number} is"
    if first.machine_s < equal[0].machine_s:
        saved = _compared(first.machine_s, equal[0].machine_s)
        return f"{others} as good; this trial was the cheapest: {saved}"
    return f"{others} as good; this trial came first"


def _compared(less_s: float, more_s: float) -> str:
    """Compares two times, with enough digits to show a difference."""
    for digits in range(4):
        less, more = f"{less_s:.{digits}f}", f"{more_s:.{digits}f}"
        if less != more:
            return f"{less} s of machine time against {more} s"
    return "the difference is less than a thousandth of a second of machine time"


def _dominates(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
