"""The trials of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from footplate.domain.studies.metrics import Measurement, Metric
from footplate.domain.studies.space import Point


class TrialState(Enum):
    """The state of a trial. Source: Trial.State of aiplatform v1."""

    REQUESTED = "requested"
    ACTIVE = "active"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    INFEASIBLE = "infeasible"
    """Its program failed, or it reported nothing: there is no value, and the search keeps away."""

    @property
    def ended(self) -> bool:
        return self in (TrialState.SUCCEEDED, TrialState.INFEASIBLE)


@dataclass(frozen=True)
class Trial:
    """A trial of a study; ``number`` counts from 1 and is never reused."""

    number: int
    point: Point
    state: TrialState = TrialState.REQUESTED
    measurements: tuple[Measurement, ...] = ()
    final: Measurement | None = None
    """What it is judged by, once it has ended."""
    machine_s: float = 0.0
    """Machine time, in seconds times machines: what it cost."""
    stopped_early: bool = False

    def value(self, metric: Metric) -> float | None:
        """Returns the trial's final value; None: it has none, or its value isn't a number."""
        if self.state is not TrialState.SUCCEEDED or self.final is None:
            return None
        value = self.final.values.get(metric.name)
        return value if value is not None and math.isfinite(value) else None

    def values(self, metrics: Sequence[Metric]) -> tuple[float, ...] | None:
        """Returns the values of all the metrics; None: one of them is missing."""
        found = [self.value(metric) for metric in metrics]
        whole = tuple(value for value in found if value is not None)
        return whole if len(whole) == len(found) else None
