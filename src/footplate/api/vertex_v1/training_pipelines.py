"""``projects.locations.trainingPipelines`` of aiplatform v1."""

from __future__ import annotations

from footplate.api.json_route import Call
from footplate.api.vertex_v1.located_jobs import LocatedJobs
from footplate.api.vertex_v1.parents import location_of
from footplate.control.jobs import Jobs
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import (
    CustomJobName,
    TrainingPipelineName,
    TuningJobName,
    backing_job_name,
)
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.pipeline_responses import training_pipeline_json
from footplate.wire.vertex_v1.pipelines import read_pipeline
from footplate.wire.vertex_v1.queries import PIPELINE_VOCABULARY


class TrainingPipelines:
    """The handlers of training pipelines, one per API method, for the API ``version``."""

    def __init__(self, jobs: Jobs, clock: Clock, catalogue: Catalogue, version: str) -> None:
        self._jobs = jobs
        self._catalogue = catalogue
        self._located = LocatedJobs(
            jobs, clock, TrainingPipelineName, version, catalogue.regions, PIPELINE_VOCABULARY
        )
        self.cancel, self.delete = self._located.cancel, self._located.delete

    def create(self, call: Call) -> JsonObject:
        submission = read_pipeline(call.body(), location_of(call), self._catalogue)
        return self._answer(call, self._jobs.submit(submission, call.find_author()))

    def get(self, call: Call) -> JsonObject:
        return self._answer(call, self._located.get(call))

    def list(self, call: Call) -> JsonObject:
        return self._located.list(call, self._answer)

    def _answer(self, _call: Call, job: Job) -> JsonObject:
        return training_pipeline_json(job, self._backing(job), self._jobs.explain(job))

    def _backing(self, job: Job) -> CustomJobName | TuningJobName | None:
        """Returns the name of the job that runs the pipeline's program; None if that doesn't exist
        yet.

        A pipeline that has begun has had its job, even if it was deleted since.
        """
        name = backing_job_name(job.name, tunes=job.spec.search is not None)
        if job.state is not State.QUEUED:
            return name
        try:
            self._jobs.get(name)
        except NotFound:
            return None
        return name
