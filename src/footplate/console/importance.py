"""The share of the objective that each parameter explains, from ended trials. Pure.

Trials are grouped by a parameter's values: by each value of few, else by quarters of the order.
What the groups explain of the objective's variance (the correlation ratio, less what groups of
chance would explain: epsilon squared) is its importance. Ranks are used in place of values, so
that trials that have diverged don't decide. Parameters that act only together are not seen.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    Point = Mapping[str, JsonValue]

MIN_TRIALS = 8
"""Fewer say nothing of this."""
_GROUPS = 4
_MIN_IN_GROUP = 2


@dataclass(frozen=True)
class Importance:
    """A parameter's importance. ``share`` is its part of the objective's variance, 0 to 1.

    ``best`` has the values of the best group.
    """

    parameter: str
    share: float
    best: str


def importances(
    parameters: Sequence[str], trials: Sequence[tuple[Point, float]], *, minimize: bool
) -> list[Importance]:
    """Returns the parameters' importances, the most important first; empty with too few ``trials``.

    Each of the trials comes with its result.
    """
    known = [(point, value) for point, value in trials if math.isfinite(value)]
    if len(known) < MIN_TRIALS:
        return []
    ranks = _ranks([value for _, value in known])
    found = (
        _importance(name, [p for p, _ in known], ranks, minimize=minimize) for name in parameters
    )
    return sorted((each for each in found if each is not None), key=lambda each: -each.share)


def _importance(
    name: str, points: Sequence[Point], ranks: Sequence[float], *, minimize: bool
) -> Importance | None:
    """Returns a parameter's importance; None if trials lack it, or all have the same value."""
    having = [
        (point[name], rank) for point, rank in zip(points, ranks, strict=True) if name in point
    ]
    groups = _groups(having)
    count = sum(len(group) for group in groups.values())
    if len(groups) < _MIN_IN_GROUP or count < MIN_TRIALS:
        return None
    every = [rank for group in groups.values() for rank in group]
    mean = sum(every) / count
    whole = sum((rank - mean) ** 2 for rank in every)
    within = sum(sum((r - sum(g) / len(g)) ** 2 for r in g) for g in groups.values())
    free = count - len(groups)
    share = 0.0 if whole == 0 or free < 1 else 1.0 - (within / free) / (whole / (count - 1))
    means = {label: sum(group) / len(group) for label, group in groups.items()}
    best = min(means, key=means.__getitem__) if minimize else max(means, key=means.__getitem__)
    return Importance(name, max(0.0, share), best)


def _groups(having: Sequence[tuple[JsonValue, float]]) -> dict[str, list[float]]:
    """Returns the ranks in each group of values, by the group's name."""
    groups: dict[str, list[float]] = defaultdict(list)
    numbers = [v for v, _ in having if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(numbers) < len(having) or len(set(numbers)) <= _GROUPS:
        for value, rank in having:
            groups[_text(value)].append(rank)
        return groups
    ordered = sorted(having, key=lambda pair: float(str(pair[0])))
    size = len(ordered) / _GROUPS
    for at in range(_GROUPS):
        part = ordered[round(at * size) : round((at + 1) * size)]
        label = f"{_text(part[0][0])} to {_text(part[-1][0])}"
        groups[label] += [rank for _, rank in part]
    return groups


def _text(value: JsonValue) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value; equal values share their mean rank."""
    ordered = sorted(values)
    first = {value: at for at, value in reversed(list(enumerate(ordered)))}
    last = {value: at for at, value in enumerate(ordered)}
    return [(first[value] + last[value]) / 2 for value in values]
