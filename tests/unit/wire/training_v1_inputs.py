"""Training inputs of ml v1 with something wrong in them, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.catalogue import load_catalogue
from footplate.wire.training_v1.submissions import read_submission

if TYPE_CHECKING:
    from pydantic import JsonValue

    from footplate.domain.submission import Submission
    from footplate.wire.json_text import JsonObject

CATALOGUE = load_catalogue()
PACKAGES: JsonObject = {
    "runtimeVersion": "2.21",
    "pythonVersion": "3.11",
    "packageUris": ["gs://b/trainer-0.1.tar.gz"],
    "pythonModule": "trainer.task",
}
IMAGE: JsonObject = {"masterConfig": {"imageUri": "gcr.io/p/i"}}
CUSTOM: JsonObject = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4"}
T4: JsonObject = {"type": "NVIDIA_TESLA_T4", "count": 1}


def gpus(kind: str, count: JsonValue) -> JsonObject:
    return {"acceleratorConfig": {"type": kind, "count": count}}


def submission(*parts: JsonObject, base: JsonObject = PACKAGES) -> Submission:
    """A training input that is fine, with changes; None takes a field away."""
    training: JsonObject = {"region": "us-central1", **base}
    for part in parts:
        training |= part
    return read_submission({"jobId": "job_1", "trainingInput": training}, "demo", CATALOGUE)


def refused(*parts: JsonObject, base: JsonObject = PACKAGES) -> dict[str, str]:
    """The descriptions by fields, without the ``trainingInput.`` before each."""
    return {
        violation.field.removeprefix("trainingInput."): violation.description
        for violation in submission(*parts, base=base).violations
    }


def param(**changes: JsonValue) -> JsonObject:
    return {"parameterName": "lr", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1, **changes}


def search(*params: JsonObject, **changes: JsonValue) -> JsonObject:
    return {"hyperparameters": {"params": list(params or (param(),)), **changes}}
