"""Jobs of both faces, with their lines, events and trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.domain.errors import InvalidArgument
from footplate.wire.footplate_v1.trial_selection import select_trials
from tests.support.fake_service.messages import TIME, Answer, failure

if TYPE_CHECKING:
    from tests.support.fake_service.messages import Request, Route
    from tests.support.fake_service.service import FakeService

_TRAINING = r"projects/[^/]+/jobs/[^/:]+"
_KINDS = "(?:customJobs|hyperparameterTuningJobs)"
_LOCATED = rf"projects/[^/]+/locations/[^/]+/{_KINDS}"
_JOB = rf"({_TRAINING}|{_LOCATED}/[^/:]+)"
_COLLECTION = f"(projects/[^/]+/jobs|{_LOCATED})"
_PIPELINE = r"projects/[^/]+/locations/[^/]+/trainingPipelines/[^/:]+"
_API = r"/v1(?:beta1)?"


def _create_training(service: FakeService, request: Request, project: str) -> Answer:
    given = request.json()
    name = f"projects/{project}/jobs/{given['jobId']}"
    if name in service.jobs:
        return failure(409, "ALREADY_EXISTS", f"{name} exists already")
    service.jobs[name] = {**given, "createTime": TIME, "state": "QUEUED", "etag": "aGk="}
    return Answer(body=service.jobs[name])


def _create_located(service: FakeService, request: Request, collection: str) -> Answer:
    name = f"{collection}/{len(service.jobs) + 100}"
    service.jobs[name] = {
        **request.json(),
        "name": name,
        "state": "JOB_STATE_QUEUED",
        "createTime": TIME,
        "updateTime": TIME,
    }
    return Answer(body=service.jobs[name])


def _get(service: FakeService, _request: Request, name: str) -> Answer:
    job = service.jobs.get(name)
    return failure(404, "NOT_FOUND", f"{name} not found") if job is None else Answer(body=job)


def _list(service: FakeService, request: Request, collection: str) -> Answer:
    """Two to a page, so that clients have to turn it."""
    names = sorted(n for n in service.jobs if n.rpartition("/")[0] == collection)
    first = int(request.query.get("pageToken", "0"))
    body: dict[str, object] = {}
    if page := [service.jobs[name] for name in names[first : first + 2]]:
        body[collection.rpartition("/")[2]] = page
    if first + 2 < len(names):
        body["nextPageToken"] = str(first + 2)
    return Answer(body=body)


def _relabel(service: FakeService, request: Request, name: str) -> Answer:
    job = service.jobs[name]
    if meddlers := service.meddlers.get(name):
        job.update(meddlers.pop(0))
    given = request.json()
    if given.get("etag", job.get("etag")) != job.get("etag"):
        return failure(409, "ABORTED", f"{name} has changed since")
    job["labels"] = given["labels"]
    return Answer(body=job)


def _cancel(service: FakeService, _request: Request, name: str) -> Answer:
    if name not in service.jobs:
        return failure(404, "NOT_FOUND", f"{name} not found")
    prefix = "JOB_STATE_" if "/locations/" in name else ""
    service.jobs[name]["state"] = f"{prefix}CANCELLED"
    return Answer()


def _delete(service: FakeService, _request: Request, name: str) -> Answer:
    if service.jobs.pop(name, None) is None:
        return failure(404, "NOT_FOUND", f"{name} not found")
    return Answer(body=_operation(name))


def _operation(name: str) -> dict[str, object]:
    parent = name.rpartition("/")[0].rpartition("/")[0]
    empty = {"@type": "type.googleapis.com/google.protobuf.Empty"}
    return {"name": f"{parent}/operations/1", "done": True, "response": empty}


def _details(service: FakeService, request: Request, name: str) -> Answer:
    return Answer(body={"name": name, "spec": {"tuning": name in service.tuning_pipelines}})


def _restarts(service: FakeService, request: Request) -> Answer:
    names = request.json()["names"]
    assert isinstance(names, list)
    return Answer(body={"restarts": {n: c for n, c in service.restarts.items() if n in names}})


def _logs(service: FakeService, request: Request, name: str) -> Answer:
    cursor = int(request.query.get("cursor", "0"))
    replica = request.query.get("replica")
    kept = service.lines.get(name, ())
    lines = (line for line in kept if replica in (None, line.get("replica")))
    return Answer(stream=(line for line in lines if int(str(line["cursor"])) > cursor))


def _events(service: FakeService, request: Request, name: str) -> Answer:
    cursor = int(request.query.get("after", "0"))
    events = list(service.events.get(name, ()))
    return Answer(stream=[event for event in events if int(str(event["number"])) > cursor])


def _trials(service: FakeService, request: Request, name: str) -> Answer:
    answers = service.trials.get(name)
    if not answers:
        return failure(
            400, "FAILED_PRECONDITION", f"{name} is not a tuning job, so it has no trials"
        )
    body: Any = answers.pop(0) if len(answers) > 1 else answers[0]
    condition, order_by = (request.query.get(key, "") for key in ("filter", "orderBy"))
    if not condition and not order_by:
        return Answer(body=body)
    try:
        return Answer(body=select_trials(body, condition, order_by))
    except InvalidArgument as error:
        return failure(400, "INVALID_ARGUMENT", error.message)


def _measurements(service: FakeService, _request: Request, name: str, number: str) -> Answer:
    return Answer(body={"measurements": service.measurements.get((name, int(number)), [])})


ROUTES: list[Route] = [
    ("POST", "/footplate/v1/restarts", _restarts),
    ("POST", r"/v1/projects/([^/]+)/jobs", _create_training),
    ("POST", rf"{_API}/({_LOCATED})", _create_located),
    ("GET", f"{_API}/{_JOB}", _get),
    ("GET", f"{_API}/{_COLLECTION}", _list),
    ("PATCH", rf"/v1/({_TRAINING})", _relabel),
    ("POST", f"{_API}/{_JOB}:cancel", _cancel),
    ("DELETE", rf"{_API}/({_LOCATED}/[^/:]+)", _delete),
    ("GET", rf"/footplate/v1/({_PIPELINE})/details", _details),
    ("GET", f"/footplate/v1/{_JOB}/logs", _logs),
    ("GET", f"/footplate/v1/{_JOB}/events", _events),
    ("GET", f"/footplate/v1/{_JOB}/trials", _trials),
    ("GET", f"/footplate/v1/{_JOB}/trials/([0-9]+)/measurements", _measurements),
]
