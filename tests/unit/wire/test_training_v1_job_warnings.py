"""What is worth knowing of a training job that may be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.submission import Submission
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.submissions import read_submission

if TYPE_CHECKING:
    from pydantic import JsonValue

CATALOGUE = load_catalogue()
PACKAGES: JsonObject = {
    "region": "us-central1",
    "runtimeVersion": "2.11",
    "pythonVersion": "3.7",
    "packageUris": ["gs://b/trainer-0.1.tar.gz"],
    "pythonModule": "trainer.task",
}
IMAGE: JsonObject = {"region": "us-central1", "masterConfig": {"imageUri": "gcr.io/p/i"}}
CUSTOM: JsonObject = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4"}
AT = "trainingInput"
KEY = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"

ACCOUNT_WARNING = (
    "serviceAccount only asks for access to this service's API; the server's setting "
    "api_access grants access by project"
)


def read(*parts: JsonObject) -> Submission:
    training: JsonObject = {}
    for part in parts:
        training |= part
    made = read_submission({"jobId": "job_1", "trainingInput": training}, "demo", CATALOGUE)
    assert made.violations == ()
    return made


def search(**changes: JsonValue) -> JsonObject:
    given: JsonObject = {"parameterName": "x", "type": "DOUBLE", "minValue": 1, "maxValue": 2}
    parameter: JsonObject = given | changes
    return {"hyperparameters": {"params": [parameter]}}


def test_nothing_to_say() -> None:
    plain = read(PACKAGES)
    assert plain.warnings == ()
    assert plain.parity == ()
    image = read(IMAGE, {"useChiefInTfConfig": True, "scaleTier": "STANDARD_1"})
    assert image.warnings == ()
    assert image.parity == ()


PARAMETER = f"{AT}.hyperparameters.params[0]"


@pytest.mark.parametrize(
    ("parts", "warning"),
    [
        (
            [PACKAGES, {"scaleTier": "STANDARD_1"}],
            (
                f"{AT}.scaleTier STANDARD_1 starts workers and parameter servers, but only "
                "TensorFlow programs and custom containers use them. With other programs these "
                "replicas are idle"
            ),
        ),
        (
            [PACKAGES, CUSTOM, {"workerType": "n1-standard-4"}],
            f"{AT}.workerType has no effect: {AT}.workerCount is 0",
        ),
        (
            [PACKAGES, {"evaluatorConfig": {"diskConfig": {"bootDiskSizeGb": 100}}}],
            f"{AT}.evaluatorConfig has no effect: the job has no such replicas",
        ),
        (
            [PACKAGES, {"useChiefInTfConfig": False}],
            f"{AT}.useChiefInTfConfig has no effect: the job doesn't run a custom container",
        ),
        (
            [IMAGE, {"pythonModule": "a.b"}],
            f"{AT}.pythonModule has no effect: the job runs the image of masterConfig.imageUri",
        ),
        (
            [IMAGE, {"packageUris": ["gs://b/p.tar.gz"]}],
            f"{AT}.packageUris has no effect: the job runs the image of masterConfig.imageUri",
        ),
        (
            [PACKAGES, {"hyperparameters": {"resumePreviousJobId": "j", "maxParallelTrials": 2}}],
            (
                f"{AT}.hyperparameters.maxParallelTrials is 2, but maxTrials is 1: 1 trial "
                "runs at once"
            ),
        ),
        (
            [PACKAGES, search(maxValue=1)],
            f"{PARAMETER}: minValue and maxValue are equal, so all trials get the same value",
        ),
        (
            [PACKAGES, search(type="DISCRETE", discreteValues=[1, 2], maxValue=None)],
            f"{PARAMETER}.minValue has no effect on a parameter of type DISCRETE",
        ),
        (
            [PACKAGES, search(categoricalValues=["a"])],
            f"{PARAMETER}.categoricalValues has no effect on a parameter of type DOUBLE",
        ),
        (
            [
                PACKAGES,
                search(
                    type="CATEGORICAL",
                    categoricalValues=["a"],
                    scaleType="UNIT_LINEAR_SCALE",
                    minValue=None,
                    maxValue=None,
                ),
            ],
            f"{PARAMETER}.scaleType has no effect on a parameter of type CATEGORICAL",
        ),
        (
            [
                PACKAGES,
                search(
                    type="CATEGORICAL",
                    categoricalValues=["a", "b", "a"],
                    minValue=None,
                    maxValue=None,
                ),
            ],
            f"{PARAMETER}.categoricalValues contains a value twice; the value counts once",
        ),
        (
            [PACKAGES, {"serviceAccount": "a@b.c"}],
            f"{AT}.{ACCOUNT_WARNING}",
        ),
        (
            [PACKAGES, {"encryptionConfig": {"kmsKeyName": KEY}}],
            f"{AT}.encryptionConfig is accepted and has no effect here",
        ),
        (
            [PACKAGES, {"network": "projects/12/global/networks/n"}],
            f"{AT}.network is accepted and has no effect here",
        ),
    ],
)
def test_what_goes_otherwise_than_one_may_think(parts: list[JsonObject], warning: str) -> None:
    assert read(*parts).warnings == (warning,)


TPU_WORKER: JsonObject = {**CUSTOM, "workerType": "cloud_tpu", "workerCount": 1}


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            [PACKAGES, {"runtimeVersion": "", "pythonVersion": ""}],
            (
                f"{AT}.runtimeVersion isn't given, so the job gets runtime 2.21; Google's "
                "service requires a runtimeVersion and a pythonVersion"
            ),
        ),
        (
            [PACKAGES, {"runtimeVersion": "", "pythonVersion": "3.7"}],
            (
                f"{AT}.runtimeVersion isn't given, so the job gets runtime 2.11, the newest with "
                "Python 3.7; Google's service requires a runtimeVersion and a pythonVersion"
            ),
        ),
        (
            [PACKAGES, {"pythonVersion": ""}],
            (
                f"{AT}.pythonVersion isn't given, so the job gets the Python of the runtime "
                "version; Google's service requires a pythonVersion"
            ),
        ),
        (
            [PACKAGES, {"jobDir": "/data/out"}],
            f"{AT}.jobDir is a path of this machine; Google's service takes only gs://",
        ),
        (
            [IMAGE, TPU_WORKER],
            (
                f"{AT}.workerConfig.tpuTfVersion isn't given; Google's service requires it for TPU "
                "workers that run a container image"
            ),
        ),
    ],
)
def test_what_differs_in_the_cloud(parts: list[JsonObject], said: str) -> None:
    assert read(*parts).parity == (said,)


def test_a_network_of_a_project_without_its_number() -> None:
    named = read(PACKAGES, {"network": "projects/mine/global/networks/n"})
    assert named.parity[0] == (
        f"{AT}.network contains the id of the project; Google's service takes only the "
        "project's number"
    )


@pytest.mark.parametrize(
    "given",
    [
        {"jobDir": "s3://b/x"},
        {"network": "default"},
        {"runtimeVersion": 2.11},
        {"scaleTier": "CUSTM", "workerType": "n1-standard-4"},
        {"hyperparameters": {"params": [{"parameterName": "x", "type": "DOUBLE"}], "maxTrials": 9}},
    ],
)
def test_nothing_untrue_is_said_of_what_is_wrong(given: JsonObject) -> None:
    document: JsonObject = {"jobId": "job_1", "trainingInput": {**PACKAGES, **given}}
    made = read_submission(document, "demo", CATALOGUE)
    assert made.violations
    said = [*made.warnings, *made.parity]
    assert said in ([], [f"{AT}.network is accepted and has no effect here"])


@pytest.mark.parametrize(
    ("given", "understood"), [({"runtimeVersion": 2.11}, False), ({"region": "mars"}, True)]
)
def test_what_the_schema_refuses_is_not_understood(given: JsonObject, *, understood: bool) -> None:
    document: JsonObject = {"jobId": "job_1", "trainingInput": {**PACKAGES, **given}}
    assert read_submission(document, "demo", CATALOGUE).understood is understood
