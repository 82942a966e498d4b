"""The interface of all stopping rules, and the median rule.

Source of the median rule: Golovin et al., "Google Vizier: A Service for Black-Box Optimization",
2017, section 3.2.2: a trial stops when its best value so far is strictly worse than the median of
the running averages that finished trials had at the same point. It goes on where the first whole
curves cross later: their order at that point says nothing of their ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Protocol, assert_never

from footplate.domain.studies.stopping import (
    ConvexSpec,
    DecayCurveSpec,
    HalvingSpec,
    MedianSpec,
    StoppingSpec,
)
from footplate.domain.studies.study import StudyConfig
from footplate.domain.studies.trials import Trial
from footplate.tuning.stopping.convex import ConvexRule
from footplate.tuning.stopping.curves import Ruler, order_holds, whole_curves
from footplate.tuning.stopping.decay import DecayCurveRule
from footplate.tuning.stopping.halving import HalvingRule

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
        whole = whole_curves(self.ruler, others)
        if len(whole) >= MIN_TRIALS and not order_holds(whole, own.end):
            return ""
        at, shown = self.ruler.at(own.end), self.ruler.shown(own.best)
        of = f"the median of the averages of {len(averages)} finished trials"
        return f"{at}: {shown} at best, {self.ruler.worse()} {self.ruler.shown(middle)}, {of}"


class StoppingRule(Protocol):
    """A rule that stops trials early.

    ``others`` are all other trials of the study, whatever their states, in any order.
    """

    def reason_to_stop(self, trial: Trial, others: Sequence[Trial]) -> str:
        """Returns why to stop the trial, a sentence with numbers; empty: the trial continues."""
        ...


def stopping_rule(config: StudyConfig) -> StoppingRule | None:
    """Makes the study's rule; None: it asks for no automated stopping.

    Raises ValueError: there are several metrics, so that no trial is clearly worse.
    """
    spec = config.stopping
    if spec is None:
        return None
    if len(config.metrics) > 1:
        raise ValueError("automated stopping needs a single metric")
    return rule_of(Ruler(config.metrics[0], spec.use_elapsed), spec)


def rule_of(ruler: Ruler, spec: StoppingSpec) -> StoppingRule:
    """Makes the rule for a study with one metric, which ``ruler`` measures."""
    match spec:
        case HalvingSpec():
            return HalvingRule(ruler, spec)
        case MedianSpec():
            return MedianRule(ruler)
        case DecayCurveSpec():
            return DecayCurveRule(ruler)
        case ConvexSpec():
            return ConvexRule(ruler, spec)
        case _:
            assert_never(spec)
