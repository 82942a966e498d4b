"""The metrics of a study, and how values compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum


class Goal(Enum):
    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


class Selection(Enum):
    """The rule for which measurement of a trial counts. Source: MeasurementSelectionType."""

    LAST = "last"
    BEST = "best"


@dataclass(frozen=True)
class Metric:
    name: str
    goal: Goal = Goal.MAXIMIZE

    def loss(self, value: float) -> float:
        """Converts a value to a loss: smaller is better, whatever the goal."""
        return value if self.goal is Goal.MINIMIZE else -value

    def value(self, loss: float) -> float:
        """Converts a loss back to the value."""
        return self.loss(loss)

    def is_better(self, one: float, other: float) -> bool:
        """Returns whether ``one`` is better; any finite number beats one that isn't finite."""
        if not math.isfinite(one):
            return False
        return not math.isfinite(other) or self.loss(one) < self.loss(other)


@dataclass(frozen=True)
class Measurement:
    """The ``values`` of the metrics that were reported at one step, not always finite."""

    values: Mapping[str, float]
    step: int = 0
    elapsed_s: float = 0.0


def select(
    measurements: Sequence[Measurement], metrics: Sequence[Metric], selection: Selection
) -> Measurement | None:
    """Returns the measurement that a trial is judged by; None: none has all the metrics.

    LAST is the measurement of the latest step, even if training has reached ``nan`` by then. BEST
    compares the first metric; of equal measurements the earliest counts.
    """
    ordered = sorted(measurements, key=lambda m: (m.step, m.elapsed_s))
    whole = [m for m in ordered if all(metric.name in m.values for metric in metrics)]
    if not whole:
        return None
    if selection is Selection.LAST:
        return whole[-1]
    chosen, first = whole[0], metrics[0]
    for measurement in whole[1:]:
        if first.is_better(measurement.values[first.name], chosen.values[first.name]):
            chosen = measurement
    return chosen
