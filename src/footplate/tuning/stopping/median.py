"""The median rule.

Source: Golovin et al., "Google Vizier: A Service for Black-Box Optimization", 2017, section 3.2.2:
a trial stops when its best value so far is strictly worse than the median of the running averages
that finished trials had at the same point.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.studies.trials import Trial
    from footplate.tuning.stopping.curves import Ruler

MIN_TRIALS = 5
"""A median of fewer says little."""


@dataclass(frozen=True)
class MedianRule:
    ruler: Ruler

    def reason_to_stop(self, trial: Trial, others: Sequence[Trial]) -> str:
        own = self.ruler.curve(trial)
        if not own.xs:
            return ""
        ended = [self.ruler.curve(other).until(own.end) for other in others if other.state.ended]
        averages = [curve.mean for curve in ended if curve.xs]
        if len(averages) < MIN_TRIALS or own.best <= (middle := median(averages)):
            return ""
        at, shown = self.ruler.at(own.end), self.ruler.shown(own.best)
        of = f"the median of the averages of {len(averages)} finished trials"
        return f"{at}: {shown} at best, {self.ruler.worse()} {self.ruler.shown(middle)}, {of}"
