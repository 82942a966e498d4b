"""Looks up a job by the id in a log name, which has no location and no kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from footplate.domain.errors import NotFound
from footplate.domain.jobs import Job
from footplate.domain.names import CustomJobName, JobName, TrainingJobName, TuningJobName

_REMEMBERED = 4096
_DIGITS = tuple("0123456789")


class JobFinder:
    """Finds jobs by id. Ids of ml v1 begin with a letter, and aiplatform's with a digit."""

    def __init__(self, get_job: Callable[[JobName], Job], locations: Sequence[str]) -> None:
        self._get_job = get_job
        self._locations = tuple(locations)
        self._name = lru_cache(_REMEMBERED)(self._search)

    def find(self, project: str, job_id: str) -> Job:
        """Returns the job with this id. Raises NotFound."""
        if job_id.startswith(_DIGITS):
            return self._get_job(self._name(project, job_id))
        return self._get_job(TrainingJobName(project, job_id))

    def _search(self, project: str, job_id: str) -> JobName:
        for name in self._names(project, job_id):
            try:
                self._get_job(name)
            except NotFound:
                continue
            return name
        raise NotFound(f"project {project} has no job {job_id}")

    def _names(self, project: str, job_id: str) -> Iterator[JobName]:
        """Yields the names that a job id may stand for; runs of trials are custom jobs too."""
        for kind in (CustomJobName, TuningJobName):
            for location in self._locations:
                yield kind(project, location, job_id)
