"""A request to create a job, as an API parses it."""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.errors import Violation
from footplate.domain.jobs import JobSpec
from footplate.domain.names import TrainingJobName
from footplate.domain.pipelines import Pipeline
from footplate.domain.tuning.search import SearchRequest


@dataclass(frozen=True)
class Location:
    """The location for a new job whose id the service chooses."""

    project: str
    location: str


@dataclass(frozen=True)
class Tuning:
    """The size of a tuning job's search; the search itself reads the rest."""

    parameters: int
    max_trials: int
    earlier_trials: int = 0
    """Finished trials of the job that it resumes."""


@dataclass(frozen=True)
class Submission:
    """A job that is to be created, unless there are ``violations``.

    ``request`` is the accepted request as canonical JSON. ``warnings`` and ``parity`` become the
    job's first events: what may surprise the user, and where Google's service would refuse the job
    or treat it differently. With violations, ``spec`` has as much as could be understood, so that
    all other faults can be reported at the same time.
    """

    name: TrainingJobName | Location
    display_name: str
    spec: JobSpec
    request: str
    labels: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    parity: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    understood: bool = True
    """False: values were left out that the schema doesn't allow. Then only the violations are
    sure, and nothing can be advised."""
    tuning: Tuning | None = None
    search: SearchRequest | None = None
    """What a tuning job searches for; None with violations, or where there is no search."""
    pipeline: Pipeline | None = None
    """It is a training pipeline; what else stands here is of the job that runs its program."""
