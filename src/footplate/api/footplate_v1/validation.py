"""Routes of Footplate's own API: validates a job without submitting it.

The body is that of the create request of either face. What is wrong with the job is the answer,
not an error; an error is only what can't be read at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.api.vertex_v1.parents import location_of
from footplate.control.preflight import NOTHING, Staging
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import quoted
from footplate.domain.names import GcsUri, check_project
from footplate.domain.preview.parity import REFUSED_ALIKE, Parity
from footplate.domain.preview.source_patterns import Pattern, Use
from footplate.domain.preview.verdict import Verdict
from footplate.wire.footplate_v1 import verdicts
from footplate.wire.training_v1 import submissions as training_submissions
from footplate.wire.vertex_v1 import submissions as vertex_submissions
from footplate.wire.vertex_v1.pipelines import read_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.control.validation import Validation
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.submission import Submission
    from footplate.wire.json_text import JsonObject


def validation_routes(validation: Validation, catalogue: Catalogue) -> list[Route]:
    """Returns the routes of validations; they must precede those of single jobs."""
    api = _Validations(validation, catalogue)
    project = "/footplate/v1/projects/{project}"
    location = f"{project}/locations/{{location}}"
    return [
        json_route(f"{project}/jobs:validate", {"POST": api.training_job}),
        json_route(f"{location}/customJobs:validate", {"POST": api.custom_job}),
        json_route(f"{location}/hyperparameterTuningJobs:validate", {"POST": api.tuning_job}),
        json_route(f"{location}/trainingPipelines:validate", {"POST": api.pipeline}),
    ]


@dataclass(frozen=True)
class _Validations:
    """Handlers of validations. ``?staging=gs://BUCKET/PREFIX`` is where the client will upload to.

    With ``makesBucket=true`` the client will also create that bucket. Each ``uses=PATTERN:PLACE``
    is a match that the client found in the packages.
    """

    _validation: Validation
    _catalogue: Catalogue

    def training_job(self, call: Call) -> JsonObject:
        project, body = call.path["project"], call.body()
        check_project(project)
        return self._answer(
            call, lambda: training_submissions.read_submission(body, project, self._catalogue)
        )

    def custom_job(self, call: Call) -> JsonObject:
        location, body = location_of(call), call.body()
        return self._answer(
            call, lambda: vertex_submissions.read_submission(body, location, self._catalogue)
        )

    def tuning_job(self, call: Call) -> JsonObject:
        location, body = location_of(call), call.body()
        return self._answer(
            call, lambda: vertex_submissions.read_tuning_submission(body, location, self._catalogue)
        )

    def pipeline(self, call: Call) -> JsonObject:
        location, body = location_of(call), call.body()
        return self._answer(call, lambda: read_pipeline(body, location, self._catalogue))

    def _answer(self, call: Call, read: Callable[[], Submission]) -> JsonObject:
        staging = staging_of(call)
        try:
            submission = read()
        except InvalidArgument as error:
            return verdicts.Verdict.of(_unreadable(error)).encode()
        return verdicts.Verdict.of(self._validation.validate(submission, staging)).encode()


def _unreadable(error: InvalidArgument) -> Verdict:
    """Returns the verdict on a request that can't be read, so that no further check is possible."""
    violations = error.violations or (Violation("request", error.message),)
    return Verdict(violations, (), Parity(accepted=False, reasons=(REFUSED_ALIKE,)))


def staging_of(call: Call) -> Staging:
    """Returns what the client will upload before it submits the job."""
    text = call.parameter("staging")
    if text is None:
        return NOTHING
    makes = call.parameter("makesBucket", "makes_bucket") == "true"
    uses = tuple(map(_read_use, call.repeated("uses", "")))
    return Staging(GcsUri.parse(text, "staging"), makes_bucket=makes, uses=uses)


def _read_use(text: str) -> Use:
    name, _, place = text.partition(":")
    if name not in tuple(Pattern):
        allowed = ", ".join(Pattern)
        given = f"{quoted(name)} given; allowed: PATTERN:PLACE with one of the patterns {allowed}"
        raise InvalidArgument.of((Violation("uses", given),))
    return Use(Pattern(name), place)
