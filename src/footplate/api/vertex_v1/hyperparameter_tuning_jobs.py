"""``projects.locations.hyperparameterTuningJobs`` of aiplatform v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.vertex_v1.parents import location_of
from footplate.wire.vertex_v1.answers import custom_job_json
from footplate.wire.vertex_v1.submissions import read_tuning_submission

if TYPE_CHECKING:
    from footplate.api.jobs_service import JobsService
    from footplate.api.json_route import Call
    from footplate.domain.catalogue import Catalogue
    from footplate.wire.json_text import JsonObject


class HyperparameterTuningJobs:
    """So far their requests are checked in full; the service says that it can't run them."""

    def __init__(self, jobs: JobsService, catalogue: Catalogue) -> None:
        self._jobs = jobs
        self._catalogue = catalogue

    def create(self, call: Call) -> JsonObject:
        submission = read_tuning_submission(call.body(), location_of(call), self._catalogue)
        made = custom_job_json(self._jobs.submit(submission))
        parent, _, job_id = str(made["name"]).rpartition("/customJobs/")
        return {**made, "name": f"{parent}/hyperparameterTuningJobs/{job_id}"}
