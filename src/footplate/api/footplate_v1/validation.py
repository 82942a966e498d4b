"""Routes of Footplate's own API: validates a job without submitting it.

The body is that of the create request of either face. What is wrong with the job is the answer,
not an error; an error is only what can't be read at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.api.vertex_v1.parents import location_of
from footplate.control.preflight import NOTHING, Staging
from footplate.control.validation import Validation
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import quoted
from footplate.domain.names import GcsUri, check_project
from footplate.domain.preview.parity import REFUSED_ALIKE, Parity
from footplate.domain.preview.source_patterns import Pattern, Use
from footplate.domain.preview.verdict import Verdict
from footplate.domain.submission import Location, Submission
from footplate.wire.footplate_v1 import verdicts
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1 import submissions as training_submissions
from footplate.wire.vertex_v1 import submissions as vertex_submissions
from footplate.wire.vertex_v1.pipelines import read_pipeline

Read = Callable[[JsonObject, Catalogue], Submission]


def _training(call: Call) -> Read:
    project = call.path["project"]
    check_project(project)
    return lambda job, catalogue: training_submissions.read_submission(job, project, catalogue)


def _located(
    read: Callable[[JsonObject, Location, Catalogue], Submission],
) -> Callable[[Call], Read]:
    def choose(call: Call) -> Read:
        location = location_of(call)
        return lambda job, catalogue: read(job, location, catalogue)

    return choose


_PROJECT = "/footplate/v1/projects/{project}"
_LOCATION = f"{_PROJECT}/locations/{{location}}"
READERS: Mapping[str, Callable[[Call], Read]] = {
    f"{_PROJECT}/jobs": _training,
    f"{_LOCATION}/customJobs": _located(vertex_submissions.read_submission),
    f"{_LOCATION}/hyperparameterTuningJobs": _located(vertex_submissions.read_tuning_submission),
    f"{_LOCATION}/trainingPipelines": _located(read_pipeline),
}
"""By the path of a collection: reads the create request of its jobs, for the place of the call.

Raises InvalidArgument: there can't be such a place.
"""


def validation_routes(validation: Validation, catalogue: Catalogue) -> list[Route]:
    """Returns the routes of validations; they must precede those of single jobs."""
    return [
        json_route(f"{path}:validate", {"POST": partial(_validate, validation, catalogue, reader)})
        for path, reader in READERS.items()
    ]


def _validate(
    validation: Validation, catalogue: Catalogue, reader: Callable[[Call], Read], call: Call
) -> JsonObject:
    """Validates a job; the client uploads what lies below ``?staging=gs://BUCKET/PREFIX`` later.

    With ``makesBucket=true`` the client will also create that bucket. Each ``uses=PATTERN:PLACE``
    is a match that the client found in the packages.
    """
    read, body, staging = reader(call), call.body(), staging_of(call)
    try:
        submission = read(body, catalogue)
    except InvalidArgument as error:
        return verdicts.Verdict.of(_unreadable(error)).encode()
    return verdicts.Verdict.of(validation.validate(submission, staging)).encode()


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
