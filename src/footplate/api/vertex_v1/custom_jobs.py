"""``projects.locations.customJobs`` of aiplatform v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import Call
from footplate.api.vertex_v1.located_jobs import LocatedJobs
from footplate.api.vertex_v1.parents import location_of
from footplate.api.web_access import web_access_uris
from footplate.control.jobs import Jobs
from footplate.domain.catalogue import Catalogue
from footplate.domain.jobs import Job
from footplate.domain.names import CustomJobName
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.responses import custom_job_json
from footplate.wire.vertex_v1.submissions import read_submission

if TYPE_CHECKING:
    from footplate.api.web_access import ShellPaths


class CustomJobs:
    """The handlers of custom jobs, one per API method; ``version`` is ``v1`` or ``v1beta1``."""

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        catalogue: Catalogue,
        shells: ShellPaths,
        version: str,
    ) -> None:
        self._jobs = jobs
        self._catalogue = catalogue
        self._shells = shells
        self._located = LocatedJobs(jobs, clock, CustomJobName, version, catalogue.regions)
        self.cancel, self.delete = self._located.cancel, self._located.delete

    def create(self, call: Call) -> JsonObject:
        submission = read_submission(call.body(), location_of(call), self._catalogue)
        return custom_job_json(self._jobs.submit(submission, call.find_author()))

    def get(self, call: Call) -> JsonObject:
        return self._answer(call, self._located.get(call))

    def list(self, call: Call) -> JsonObject:
        return self._located.list(call, self._answer)

    def _answer(self, call: Call, job: Job) -> JsonObject:
        uris = web_access_uris(call, self._shells(job))
        where = self._jobs.engine_jobs(job)
        return custom_job_json(job, self._jobs.explain(job), uris, where)
