"""The configuration of a study with its limits, and its results so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from footplate.domain.studies.metrics import Metric, Selection
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import StoppingSpec
from footplate.domain.studies.trials import Trial


@dataclass(frozen=True)
class StudyLimits:
    """The limits of a study; None, or 0 trials: not given. Durations count from its creation."""

    stop_asap: bool = False
    """Once the study is over, the trials that still run are asked to stop, too."""
    min_trials: int | None = None
    """Before so many have ended no other limit holds."""
    max_trials: int | None = None
    max_trials_no_progress: int | None = None
    """Over when so many trials in a row brought nothing better."""
    max_duration_no_progress_s: float | None = None
    """Counts from the end of the best trial; as long as none has a value, from the first start."""
    min_duration_s: float | None = None
    min_end: datetime | None = None
    max_duration_s: float | None = None
    max_end: datetime | None = None


class Algorithm(Enum):
    BAYESIAN = "bayesian"
    GRID = "grid"
    RANDOM = "random"


class Noise(Enum):
    """The degree to which measurements of one point differ. Source: ObservationNoise."""

    LOW = "low"
    """A point is never tried twice."""
    HIGH = "high"
    """Trying a point again may tell more."""


@dataclass(frozen=True)
class StudyConfig:
    """The configuration of a study.

    ``metrics`` has at least one metric; with several, the best trials are the Pareto-optimal ones.
    """

    space: SearchSpace
    metrics: tuple[Metric, ...]
    algorithm: Algorithm = Algorithm.BAYESIAN
    noise: Noise = Noise.LOW
    selection: Selection = Selection.LAST
    stopping: StoppingSpec | None = None
    limits: StudyLimits | None = None

    def __post_init__(self) -> None:
        if not self.metrics or len({m.name for m in self.metrics}) < len(self.metrics):
            raise ValueError("a study needs metrics of different names, at least one")


@dataclass(frozen=True)
class Study:
    """A study with its trials, and ``earlier`` studies that it learns from, oldest first.

    The trials of an earlier study with the same space count like own trials. Trials of others give
    a first idea, which own trials outweigh.
    """

    config: StudyConfig
    trials: tuple[Trial, ...] = ()
    earlier: tuple[Study, ...] = ()

    @property
    def finished(self) -> tuple[Trial, ...]:
        """Returns the trials that have ended, with or without a value."""
        return tuple(trial for trial in self.trials if trial.state.ended)

    @property
    def pending(self) -> tuple[Trial, ...]:
        return tuple(trial for trial in self.trials if not trial.state.ended)
