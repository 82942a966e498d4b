"""Specifications of early stopping. Source: AutomatedStopping specs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from footplate.domain.studies.trials import Trial


@dataclass(frozen=True)
class HalvingSpec:
    """The settings of successive halving (ASHA), which ``enableTrialEarlyStopping`` turns on."""

    reduction: int = 3
    """Of so many trials that come as far, one goes on."""
    grace: float = 0.1
    """Before this part of the longest curve nothing is stopped."""
    use_elapsed: bool = False


@dataclass(frozen=True)
class MedianSpec:
    use_elapsed: bool = False
    """Curves run over elapsed seconds, not over steps."""


@dataclass(frozen=True)
class DecayCurveSpec:
    use_elapsed: bool = False


@dataclass(frozen=True)
class ConvexSpec:
    """The settings of the convex stopping rule.

    ``max_step`` and ``min_step`` are seconds with ``use_elapsed``; None: not given.
    """

    max_step: int | None = None
    min_step: int | None = None
    """None: a tenth of ``max_step``."""
    min_measurements: int = 5
    learning_rate: str = ""
    """The parameter that is the learning rate; empty: none is named."""
    use_elapsed: bool = False
    update_all_stopped: bool = False


StoppingSpec: TypeAlias = HalvingSpec | MedianSpec | DecayCurveSpec | ConvexSpec


@dataclass(frozen=True)
class PastTrial:
    """A trial that has ended, with all its measurements; both times are from one clock."""

    trial: Trial
    start_s: float
    end_s: float


@dataclass(frozen=True)
class ReplayedStop:
    """A stop that a rule would have made: of this trial, at this step, saving this machine time."""

    number: int
    step: int
    reason: str
    saved_s: float
