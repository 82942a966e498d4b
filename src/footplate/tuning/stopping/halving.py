"""Asynchronous successive halving, with grace, and a forecast learnt from whole curves.

Source: Li et al., "A System for Massively Parallel Hyperparameter Tuning", 2020 (ASHA), in its
variant that stops trials rather than pausing them. What is different, each measured by
``benchmarks/tuning/stopping.py``:

- A trial is compared at each of its reports, not at a few levels, once a tenth of the longest whole
  curve is over: comparing from the first step on stops what begins slowly and ends well.
- What falls fast may go on too: where a trial stands, and where it would end if each doubling of
  its time brought as much as the last one, are both compared.
- The first whole curves say whether the order at that point is that of the ends. Where they cross,
  no trial is stopped for its place.
- What may still become the best goes on, wherever it stands; what hardly can stops, even among the
  top third. How likely that is, is learnt from whole curves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from footplate.domain.studies.stopping import HalvingSpec
from footplate.domain.studies.trials import Trial
from footplate.tuning.stopping.curves import Curve, Ruler, order_holds, ran_whole
from footplate.tuning.stopping.forecast import ForecastResult, forecast_end

_PARTS = {2: "half", 3: "third", 4: "quarter"}
MIN_COMPLETE_CURVES = 5
"""Before so many trials have run to their end, nobody knows how long curves get, or cross."""
_HOPELESS, _POSSIBLE = 0.1, 1.0
"""Chances to become the best, as a multiple of 1 / (number of trials), which any trial has before
anything is known: with less than the first a trial stops in any case, with more than the second in
none. They leave a margin, because few whole curves say little of how far forecasts are off.
Multiples, so that the chance to lose the best of all doesn't grow with the number of trials.
"""
_MIN_TRIALS = 8


@dataclass(frozen=True)
class HalvingRule:
    """A halving rule; it stops nothing before some trials have run to their end."""

    ruler: Ruler
    spec: HalvingSpec

    def reason_to_stop(self, trial: Trial, others: Sequence[Trial]) -> str:
        own = self.ruler.curve(trial)
        ended = [self.ruler.curve(t) for t in sorted(others, key=_number) if ran_whole(t)]
        whole = [curve for curve in ended if math.isfinite(curve.best)]
        longest = max((curve.end for curve in whole), default=0.0)
        x = own.end
        if len(whole) < MIN_COMPLETE_CURVES or not self.spec.grace * longest <= x < longest:
            return ""
        unfinished = [self.ruler.curve(other) for other in others if not ran_whole(other)]
        curves = [curve for curve in (*ended, *unfinished) if curve.xs]
        reached = [_until(curve, x) for curve in curves if curve.end >= x]
        behind = self._compared(own, reached, x, longest) if order_holds(whole, x) else ""
        forecasted = forecast_end(own, whole, longest) if math.isfinite(own.standing) else None
        if forecasted is None:
            return behind
        share = forecasted.chance * max(len(curves) + 1, _MIN_TRIALS)
        if own.best <= forecasted.to_beat or share >= _POSSIBLE:
            return ""
        hopeless = share < _HOPELESS and forecasted.trend > forecasted.to_beat
        return behind or (self._hopeless(own, forecasted, len(whole)) if hopeless else "")

    def _compared(self, own: Curve, reached: Sequence[Curve], x: float, longest: float) -> str:
        """Returns why the curve should stop compared with others; empty: it may go on.

        ``reached`` has the other curves up to the same point.
        """
        count = len(reached) + 1
        going_on = count // self.spec.reduction
        mine = own.standing
        standing = sorted(curve.standing for curve in reached)
        if going_on == 0 or mine <= standing[going_on - 1]:
            return ""
        led = sorted(_led_to(curve, x, longest) for curve in reached)
        if _led_to(own, x, longest) <= led[going_on - 1]:
            return ""
        last = self.ruler.shown(standing[going_on - 1])
        part = _PARTS.get(self.spec.reduction, f"{self.spec.reduction}th part")
        at, shown = self.ruler.at(x), self.ruler.shown(mine)
        return f"{at}: {shown}, {self.ruler.worse()} {last}, the top {part} of {count} trials"

    def _hopeless(self, own: Curve, forecasted: ForecastResult, whole: int) -> str:
        at, shown = self.ruler.at(own.end), self.ruler.shown
        ends = sorted([forecasted.low, forecasted.high], key=self.ruler.metric.value)
        between = " and ".join(shown(end) for end in ends)
        to_beat = f"the best of {whole} finished trials has {shown(forecasted.to_beat)}"
        return f"{at}: {shown(own.best)}, expected to end between {between}, and {to_beat}"


def _until(curve: Curve, x: float) -> Curve:
    """Returns the curve up to ``x``; its losses are infinite if it diverged later."""
    so_far = curve.until(x)
    if math.isfinite(curve.standing):
        return so_far
    return replace(so_far, losses=(math.inf,) * len(so_far.losses))


def _led_to(curve: Curve, x: float, longest: float) -> float:
    """Returns the final loss of a curve if each doubling of x gains as much as the last one."""
    fallen = curve.until(x / 2.0).best - curve.standing
    return curve.standing - (fallen if math.isfinite(fallen) else 0.0) * math.log2(longest / x)


def _number(trial: Trial) -> int:
    return trial.number
