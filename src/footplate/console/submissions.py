"""The ways to submit a job again: as a command of gcloud, as Python, as YAML. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING

import yaml

from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from pydantic import JsonValue

_GCLOUD = {
    "customJobs": "custom-jobs",
    "hyperparameterTuningJobs": "hp-tuning-jobs",
}
_MAX_ID = 128
_LEARN_FROM = "footplate-learn-from"
_OUTPUTS = ("name", "state", "createTime", "startTime", "endTime", "updateTime", "error", "etag")


def request_of(job: Mapping[str, JsonValue], *, new_id: str = "") -> JsonObject:
    """Returns the body that creates the same job again; ``new_id`` is for kinds with ids chosen
    by users.
    """
    given = job["request"]
    request = dict(given) if isinstance(given, dict) else {}
    for name in _OUTPUTS:
        request.pop(name, None)
    if job.get("labels"):
        request["labels"] = job["labels"]
    if job["kind"] == "jobs":
        request["jobId"] = new_id or job["jobId"]
    return request


def more_trials(job: Mapping[str, JsonValue], count: int, *, suffix: str) -> JsonObject:
    """Returns the body of a tuning job that continues the search of ``job`` with ``count`` trials.

    A training job resumes the search. A job of Vertex AI has no field for this, and learns from it
    instead.
    """
    new_id = str(job["jobId"])[: _MAX_ID - len(suffix)] + suffix
    request = request_of(job, new_id=new_id)
    if job["kind"] == "jobs":
        training = _object(request.get("trainingInput"))
        search = _object(training.get("hyperparameters"))
        search |= _counts(search, "maxTrials", "maxParallelTrials", count)
        search["resumePreviousJobId"] = job["jobId"]
        return {**request, "trainingInput": {**training, "hyperparameters": search}}
    labels = {**_object(request.get("labels")), _LEARN_FROM: job["jobId"]}
    counts = _counts(request, "maxTrialCount", "parallelTrialCount", count)
    return {**request, **counts, "labels": labels}


def _counts(given: JsonObject, most: str, parallel: str, count: int) -> JsonObject:
    at_once = int(str(given.get(parallel) or 1))
    return {most: count, parallel: min(at_once, count)}


def _object(value: JsonValue) -> JsonObject:
    return dict(value) if isinstance(value, dict) else {}


def parent_of(job: Mapping[str, JsonValue]) -> str:
    """Returns the job's parent: ``projects/P`` or ``projects/P/locations/R``."""
    return str(job["name"]).rsplit("/", 2)[0]


def as_yaml(value: JsonValue) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)


def as_python(job: Mapping[str, JsonValue]) -> str:
    """Returns a program for google-api-python-client that submits the same request."""
    kind = str(job["kind"])
    service = "ml" if kind == "jobs" else "aiplatform"
    chain = "projects()" if kind == "jobs" else "projects().locations()"
    text = json.dumps(request_of(job), indent=2).replace("'", "\\u0027")  # only texts hold it
    return (
        "import json\n\n"
        "from google.auth.credentials import AnonymousCredentials\n"
        "from googleapiclient.discovery import build\n\n"
        f"service = build({service!r}, 'v1', credentials=AnonymousCredentials())\n"
        f"body = json.loads(r'''\n{text}\n''')\n"
        f"jobs = service.{chain}.{kind}()\n"
        f"print(jobs.create(parent={parent_of(job)!r}, body=body).execute())\n"
    )


def as_gcloud(job: Mapping[str, JsonValue]) -> str:
    """Returns a shell command that submits the job; for a pipeline (not in gcloud) with curl."""
    kind, project = str(job["kind"]), str(job["project"])
    request = request_of(job)
    labels = request.pop("labels", None)
    options = [f"--project={quote(project)}"]
    if isinstance(labels, dict) and labels:
        options.append(f"--labels={quote(','.join(f'{k}={v}' for k, v in labels.items()))}")
    if kind == "jobs":
        name = str(request.pop("jobId"))
        command = f"gcloud ai-platform jobs submit training {quote(name)}"
        return _with_file([command, *options, "--config=/dev/stdin"], as_yaml(request))
    if kind in _GCLOUD:
        title = str(request.pop("displayName", ""))
        options += [f"--region={quote(str(job['region']))}", f"--display-name={quote(title)}"]
        body = request.get("jobSpec") if kind == "customJobs" else request
        command = f"gcloud ai {_GCLOUD[kind]} create"
        return _with_file([command, *options, "--config=/dev/stdin"], as_yaml(body))
    url = f'"$FOOTPLATE_URL/v1/{parent_of(job)}/{kind}"'
    command = f"curl -H 'Content-Type: application/json' --data @/dev/stdin {url}"
    return _with_file([command], json.dumps(request_of(job), indent=2))


def _with_file(words: list[str], text: str) -> str:
    """Returns a command with a here-document; its end marker is no line of ``text``."""
    end = "END"
    while end in text.splitlines():
        end += "_"
    return f"{' '.join(words)} <<'{end}'\n{text.rstrip()}\n{end}\n"
