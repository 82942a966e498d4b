"""A trial's reports as a curve of losses: smaller is better."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.studies.trials import TrialState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.studies.metrics import Metric
    from footplate.domain.studies.trials import Trial


_MOST = 1e100
"""Values beyond it come from trainings that have diverged, and would break sums."""


@dataclass(frozen=True)
class Curve:
    """``xs`` don't decrease. What wasn't a number, or a huge one, counts as an infinite loss."""

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
        """The best, unless it has come to what is no number since."""
        return self.best if self.losses and math.isfinite(self.losses[-1]) else math.inf

    @property
    def mean(self) -> float:
        """Without what wasn't a number; infinite where nothing was."""
        finite = [loss for loss in self.losses if math.isfinite(loss)]
        return sum(finite) / len(finite) if finite else math.inf


@dataclass(frozen=True)
class Ruler:
    """How a rule sees trials: by one metric, over steps or over elapsed seconds."""

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
        """``at step 40``"""
        return f"after {x:.0f} s" if self.use_elapsed else f"at step {x:.0f}"

    def shown(self, loss: float) -> str:
        return f"{self.metric.value(loss):.4g}" if math.isfinite(loss) else "no number"

    def worse(self) -> str:
        """On which side bad values lie."""
        return "above" if self.metric.loss(1.0) > 0 else "below"


def whole_curves(ruler: Ruler, trials: Sequence[Trial]) -> list[Curve]:
    """Of trials that ran to their own end with a value: they say how long curves get."""
    curves = [ruler.curve(trial) for trial in trials if ran_whole(trial)]
    return [curve for curve in curves if math.isfinite(curve.best)]


def ran_whole(trial: Trial) -> bool:
    return trial.state is TrialState.SUCCEEDED and not trial.stopped_early
