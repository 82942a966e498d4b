"""The search of a tuning job, and its limits on trials."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.names import JobName, StudyName
from footplate.domain.studies.metrics import Goal, Metric, Selection
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import StoppingSpec
from footplate.domain.studies.study import Algorithm, StudyConfig, StudyLimits

DEFAULT_TAG = "training/hptuning/metric"
"""The metric of ml v1 where a request names none. Source: HyperparameterSpec."""


@dataclass(frozen=True)
class TrialCounts:
    """The numbers of trials: in total, in parallel, and how many may fail."""

    trials: int = 1
    parallel: int = 1
    failed: int = 0
    """0: the service decides."""


@dataclass(frozen=True)
class Search:
    """The search of a tuning job, as it was accepted; it never changes."""

    study: StudyConfig
    counts: TrialCounts
    resumes: str = ""
    """The name of the job that it goes on from; empty: it begins anew."""
    learns_from: str = ""
    """The name of a job or study whose trials give a first idea; empty: there is none."""
    regions: tuple[str, ...] = ()
    """Those that trials take turns in; none: all run in the job's own."""

    def region_of(self, number: int) -> str | None:
        """Returns the region of a trial; None: the job's own."""
        return self.regions[(number - 1) % len(self.regions)] if self.regions else None


@dataclass(frozen=True)
class SearchRequest:
    """A requested search; fields that are inherited from the resumed job are None."""

    counts: TrialCounts
    space: SearchSpace | None = None
    tag: str | None = None
    """The name of the metric; used, with ``goal``, where there are no ``metrics``."""
    goal: Goal | None = None
    metrics: tuple[Metric, ...] = ()
    """All of them, of a request that can't resume."""
    algorithm: Algorithm = Algorithm.BAYESIAN
    selection: Selection = Selection.LAST
    stopping: StoppingSpec | None = None
    limits: StudyLimits | None = None
    resumes: JobName | None = None
    """The job whose search this one goes on with."""
    learns_from: JobName | StudyName | None = None
    """A job or study whose trials give a first idea, where the user asks for that."""
    regions: tuple[str, ...] = ()
    """Those that trials take turns in."""
