"""The ways to submit a job again: as a command of gcloud, as Python, as YAML. Pure."""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from footplate.wire.json_text import JsonObject

_GCLOUD = {
    "customJobs": "custom-jobs",
    "hyperparameterTuningJobs": "hp-tuning-jobs",
}
_MAX_ID = 128
_LEARN_FROM = "footplate-learn-from"
_OUTPUTS = ("name", "state", "createTime", "startTime", "endTime", "updateTime", "error", "etag")


def request_of(job: Mapping[str, JsonValue], *, new_id: str = "") -> JsonObject:
    """The body that makes the same job again; ``new_id`` is for those whose id users choose."""
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

    A training job resumes it; a job of Vertex AI, which has no field for that, learns from it.
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
    """``projects/P`` or ``projects/P/locations/R``."""
    return str(job["name"]).rsplit("/", 2)[0]


def as_yaml(value: JsonValue) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)


def as_python(job: Mapping[str, JsonValue]) -> str:
    """Returns a program for google-api-python-client, which takes requests as they are."""
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
    """A command for a shell; of a pipeline, which gcloud can't create, what curl sends."""
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
    """A here-document, which ends at a word that ``text`` doesn't hold as a line."""
    end = "END"
    while end in text.splitlines():
        end += "_"
    return f"{' '.join(words)} <<'{end}'\n{text.rstrip()}\n{end}\n"
