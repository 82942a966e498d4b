"""What a face makes of a create request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.domain.jobs import JobSpec
    from footplate.domain.names import TrainingJobName


@dataclass(frozen=True)
class Location:
    """Where a job is to be made whose id the service chooses."""

    project: str
    location: str


@dataclass(frozen=True)
class Submission:
    """A job to be made.

    ``request`` is the accepted request as canonical JSON; ``warnings`` become the job's first
    events.
    """

    name: TrainingJobName | Location
    display_name: str
    spec: JobSpec
    request: str
    labels: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
