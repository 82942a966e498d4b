"""Footplate's own API: whether the packages of a job can be installed, without submitting it.

The body has the ``job``, as the create request of either face, and the ``packages`` that the
client uploads before it submits. A package that can't be installed is the answer, not an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.api.client_disconnect import while_wanted
from footplate.api.footplate_v1.validation import staging_of
from footplate.api.json_route import Call
from footplate.api.request_bodies import read_body, require_json
from footplate.api.vertex_v1.parents import location_of
from footplate.api.worker_threads import in_thread
from footplate.domain.names import check_project
from footplate.wire.footplate_v1 import package_checks as answers
from footplate.wire.training_v1 import submissions as training_submissions
from footplate.wire.vertex_v1 import submissions as vertex_submissions
from footplate.wire.vertex_v1.pipelines import read_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from footplate.control.package_checks import PackageChecks, PoolPackages
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.submission import Submission
    from footplate.wire.json_text import JsonObject

    Read = Callable[[Call, JsonObject], Submission]

MAX_BYTES = 64 << 20


def package_check_routes(checks: PackageChecks, catalogue: Catalogue) -> list[Route]:
    """Returns the routes of package checks; they must precede those of single jobs."""
    api = _PackageChecks(checks, catalogue)
    project = "/footplate/v1/projects/{project}"
    location = f"{project}/locations/{{location}}"
    return [
        api.route(f"{project}/jobs:checkPackages", api.training_job),
        api.route(f"{location}/customJobs:checkPackages", api.custom_job),
        api.route(f"{location}/hyperparameterTuningJobs:checkPackages", api.tuning_job),
        api.route(f"{location}/trainingPipelines:checkPackages", api.pipeline),
    ]


@dataclass(frozen=True)
class _PackageChecks:
    """Handlers of package checks. ``?staging`` and ``makesBucket`` are as for validations."""

    _checks: PackageChecks
    _catalogue: Catalogue

    def training_job(self, call: Call, job: JsonObject) -> Submission:
        project = call.path["project"]
        check_project(project)
        return training_submissions.read_submission(job, project, self._catalogue)

    def custom_job(self, call: Call, job: JsonObject) -> Submission:
        return vertex_submissions.read_submission(job, location_of(call), self._catalogue)

    def tuning_job(self, call: Call, job: JsonObject) -> Submission:
        return vertex_submissions.read_tuning_submission(job, location_of(call), self._catalogue)

    def pipeline(self, call: Call, job: JsonObject) -> Submission:
        return read_pipeline(job, location_of(call), self._catalogue)

    def route(self, path: str, read: Read) -> Route:
        async def endpoint(request: Request) -> Response:
            raw = await read_body(request, MAX_BYTES)
            require_json(request)
            call = Call(request.path_params, request.query_params, raw)
            planned, uploads = await in_thread(self._plan, call, read)
            found = await while_wanted(request, self._checks.check(planned, uploads))
            return JSONResponse(answers.PackageChecks.of(found).encode())

        return Route(path, endpoint, methods=["POST"])

    def _plan(self, call: Call, read: Read) -> tuple[tuple[PoolPackages, ...], dict[str, bytes]]:
        job, uploads = answers.read_check_request(call.body())
        return self._checks.plan(read(call, job), staging_of(call)), uploads
