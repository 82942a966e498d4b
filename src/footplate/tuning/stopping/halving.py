"""Asynchronous successive halving, with grace.

Source: Li et al., "A System for Massively Parallel Hyperparameter Tuning", 2020 (ASHA), in its
variant that stops trials rather than pausing them. Rungs lie at a tenth of the longest whole curve
and at powers of three of that: rungs from the first step on stop what begins slowly and ends well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.tuning.stopping.curves import whole_curves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.studies.stopping import HalvingSpec
    from footplate.domain.studies.trials import Trial
    from footplate.tuning.stopping.curves import Ruler

_PARTS = {2: "half", 3: "third", 4: "quarter"}


@dataclass(frozen=True)
class HalvingRule:
    """Nothing is stopped before one trial has run to its end, and shown how long curves get."""

    ruler: Ruler
    spec: HalvingSpec

    def reason_to_stop(self, trial: Trial, others: Sequence[Trial]) -> str:
        own = self.ruler.curve(trial)
        rung = max((r for r in self._rungs([trial, *others]) if r <= own.end), default=None)
        if rung is None:
            return ""
        curves = [self.ruler.curve(other) for other in others]
        reached = sorted(c.until(rung).best for c in curves if c.xs and c.end >= rung)
        mine = own.until(rung).best
        count = len(reached) + 1
        going_on = count // self.spec.reduction
        if going_on == 0 or mine <= reached[going_on - 1]:
            return ""
        last = self.ruler.shown(reached[going_on - 1])
        part = _PARTS.get(self.spec.reduction, f"{self.spec.reduction}th part")
        at, shown = self.ruler.at(rung), self.ruler.shown(mine)
        return f"{at}: {shown}, {self.ruler.worse()} {last}, the top {part} of {count} trials"

    def _rungs(self, trials: Sequence[Trial]) -> Iterator[float]:
        longest = max((curve.end for curve in whole_curves(self.ruler, trials)), default=0.0)
        rung = longest * self.spec.grace
        while 0.0 < rung < longest:
            yield rung
            rung *= self.spec.reduction
