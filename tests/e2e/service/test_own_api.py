"""Answers of a real service have the types of the API reference, and no other fields."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from footplate.domain.job_states import State
from footplate.domain.names import JobName, TrainingJobName, trial_run_name
from tests.e2e.service.conftest import REGION, Context
from tests.e2e.service.tuning_helpers import REPORTER, search
from tests.support.trainers import pack_trainer
from tools.own_api import OPERATIONS, V1, Operation

SEARCHED = REPORTER + 'HyperTune().tell("loss", given.x, 1)\nprint("done", flush=True)\n'
FAILING = 'raise ValueError("a reason")\n'
DELETED = ("DELETE", f"{V1}/projects/{{project}}/jobs/{{job_id}}")
NOT_CALLED = {
    ("POST", f"{V1}/down"): "it would end the service of other tests",
    ("POST", f"{V1}/{{name:path}}:stacks"): "the dataclass that describes it also writes it",
}


def differences(
    context: Context, verb: str, path: str, operation: Operation, **given: Any
) -> Iterator[str]:
    """Make a call, and compare the answer with the operation's type."""
    answer = httpx.request(verb, f"{context.url}{path}", timeout=60, **given)
    if answer.status_code != 200:
        yield f"{verb} {path}: {answer.text}"
        return
    for text in answer.text.splitlines() if operation.lines else [answer.text]:
        try:
            read = TypeAdapter(operation.answer).validate_python(json.loads(text))
        except ValidationError as error:
            yield f"{verb} {path}: {error}"
        else:
            yield from (f"{verb} {path}: unknown {name}" for name in unknown(read))


def unknown(value: object) -> Iterator[str]:
    """The fields that a model, or one in it, hasn't got."""
    if isinstance(value, BaseModel):
        yield from (f"{type(value).__name__}.{name}" for name in value.model_extra or {})
        for name in type(value).model_fields:
            yield from unknown(getattr(value, name))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from unknown(each)
    elif isinstance(value, dict):
        yield from unknown([*value.values()])


def bodies(failed: TrainingJobName, uri: str) -> dict[str, object]:
    """The bodies of requests, by the end of their routes."""
    job = {
        "jobId": "checked",
        "trainingInput": {"region": REGION, "packageUris": [uri], "pythonModule": "trainer.task"},
    }
    upload = {"uri": uri, "content": base64.b64encode(pack_trainer("")).decode()}
    return {
        "jobs:validate": job,
        "jobs:checkPackages": {"job": job, "packages": [upload]},
        "restarts": {"names": [str(failed)]},
        "quota": {"limits": {"jobs": 1000}},
        "{job_id}": {"note": "a note"},
    }


def test_answers_have_the_types_of_the_reference(shared: Context) -> None:
    tuned = shared.submit(SEARCHED, hyperparameters=search(2, 2))
    failed = shared.submit(FAILING, labels={"team": "ads"})
    shared.wait_for(tuned, State.SUCCEEDED)
    shared.wait_for(failed, State.FAILED)
    run = trial_run_name(tuned, 1)
    uri = f"gs://{shared.bucket.name}/new.tar.gz"
    sent, query = bodies(failed, uri), {"rule": "median", "staging": uri}
    found: list[str] = []
    for (verb, route), operation in sorted(OPERATIONS.items(), key=lambda each: each[0] == DELETED):
        if (verb, route) in NOT_CALLED or "{location}" in route:  # those of Vertex AI do the same
            continue
        name: JobName = {
            "trials": tuned,
            "measurements": tuned,
            "curves": tuned,
            "replay": tuned,
        }.get(route.rpartition("/")[2], run if route.endswith(("usage", "metrics")) else failed)
        values = {"name:path": name, "project": shared.project, "job_id": failed.job_id}
        path = route
        for key, value in {**values, "region": REGION, "number": 1}.items():
            path = path.replace(f"{{{key}}}", str(value))
        body = sent.get(route.rpartition("/")[2]) if verb in ("POST", "PATCH") else None
        params = {key: value for key, value in query.items() if key in operation.query}
        found += differences(shared, verb, path, operation, params=params, json=body)
    assert found == []
