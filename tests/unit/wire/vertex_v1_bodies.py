"""Requests of aiplatform v1 that are fine, for tests to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.submission import Location
from footplate.wire.vertex_v1.submissions import read_submission, read_tuning_submission
from tests.support.catalogue import built_in

if TYPE_CHECKING:
    from pydantic import JsonValue

    from footplate.domain.submission import Submission
    from footplate.wire.json_text import JsonObject

HERE = Location("demo", "us-central1")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest"
REDUCER = "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"
PACKAGE: JsonObject = {
    "executorImageUri": IMAGE,
    "packageUris": ["gs://b/trainer-0.1.tar.gz"],
    "pythonModule": "trainer.task",
    "args": ["--x", "1"],
    "env": [{"name": "A", "value": "B"}, {"name": "EMPTY"}],
}
MACHINE: JsonObject = {"machineType": "n1-standard-4"}
CONTAINER: JsonObject = {"imageUri": "gcr.io/demo/trainer"}


def changed(given: JsonObject, changes: JsonObject) -> JsonObject:
    """None takes a field away."""
    return {name: value for name, value in {**given, **changes}.items() if value is not None}


def pool(**changes: JsonValue) -> JsonObject:
    given: JsonObject = {"machineSpec": MACHINE, "replicaCount": "1", "pythonPackageSpec": PACKAGE}
    return changed(given, changes)


def machine(**changes: JsonValue) -> JsonObject:
    """A pool with such a machine."""
    return pool(machineSpec=changed(MACHINE, changes))


def container(**changes: JsonValue) -> JsonObject:
    """A pool of containers."""
    return pool(pythonPackageSpec=None, containerSpec=changed(CONTAINER, changes))


def body(*pools: JsonObject, **changes: JsonValue) -> JsonObject:
    """A custom job."""
    spec = changed({"workerPoolSpecs": list(pools or (pool(),))}, changes)
    return {"displayName": "a job", "jobSpec": spec}


def submit(document: JsonObject, location: Location = HERE) -> Submission:
    return read_submission(document, location, built_in())


METRIC: JsonObject = {"metricId": "loss", "goal": "MINIMIZE"}
RATE: JsonObject = {
    "parameterId": "lr",
    "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1},
    "scaleType": "UNIT_LOG_SCALE",
}
LAYERS: JsonObject = {"parameterId": "layers", "integerValueSpec": {"minValue": 1, "maxValue": 5}}


def study(**changes: JsonValue) -> JsonObject:
    return changed({"metrics": [METRIC], "parameters": [RATE, LAYERS]}, changes)


def search(*parameters: JsonObject, **changes: JsonValue) -> JsonObject:
    """A tuning job over these parameters."""
    return tuning(studySpec=study(parameters=list(parameters), **changes))


def tuning(**changes: JsonValue) -> JsonObject:
    given: JsonObject = {
        "displayName": "a search",
        "maxTrialCount": 20,
        "parallelTrialCount": 2,
        "studySpec": study(),
        "trialJobSpec": {"workerPoolSpecs": [pool()]},
    }
    return changed(given, changes)


def tune(document: JsonObject) -> Submission:
    return read_tuning_submission(document, HERE, built_in())
