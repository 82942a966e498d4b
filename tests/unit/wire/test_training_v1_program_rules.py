"""What ml v1 refuses of programs and containers, and what next to it passes."""

from __future__ import annotations

import pytest

from footplate.wire.json_text import JsonObject
from tests.unit.wire.training_v1_inputs import CUSTOM, IMAGE, refused

REFUSED: dict[str, tuple[list[JsonObject], str, str]] = {
    "no packages": (
        [{"packageUris": None}],
        "packageUris",
        "required: the gs:// URIs of the packages that hold the program",
    ),
    "too many packages": (
        [{"packageUris": ["gs://b/p.tar.gz"] * 101}],
        "packageUris",
        "101 given; allowed: at most 100",
    ),
    "a package that is a directory": (
        [{"packageUris": ["gs://b/p.tar.gz", "gs://b/"]}],
        "packageUris[1]",
        '"gs://b/" given; allowed: gs://BUCKET/PATH of a package file',
    ),
    "an argument that Linux doesn't take": (
        [{"args": ["--a", "x" * 131_072]}],
        "args[1]",
        (
            "131,072 bytes given; allowed: at most 131,071, the limit of Linux. Put the text into "
            "a file in a bucket"
        ),
    ),
    "no module": (
        [{"pythonModule": None}],
        "pythonModule",
        "required: the module to run, such as trainer.task",
    ),
    "a file as module": (
        [{"pythonModule": "trainer/task.py"}],
        "pythonModule",
        '"trainer/task.py" given; allowed: a dotted module name, such as trainer.task',
    ),
    "a runtime version beside an image": (
        [IMAGE, {"pythonVersion": None}],
        "runtimeVersion",
        '"2.21" given together with masterConfig.imageUri; allowed: one of the two',
    ),
    "a Python version beside an image": (
        [IMAGE, {"runtimeVersion": None}],
        "pythonVersion",
        '"3.11" given together with masterConfig.imageUri; allowed: one of the two',
    ),
    "a runtime version that is none": (
        [{"runtimeVersion": "latest"}],
        "runtimeVersion",
        '"latest" given; allowed: a version, such as 2.21',
    ),
    "a Python version that is none": (
        [{"pythonVersion": ':3.5"'}],
        "pythonVersion",
        '":3.5\\"" given; allowed: a version, such as 3.11',
    ),
    "a Python version that the runtime doesn't have": (
        [{"pythonVersion": "3.7"}],
        "pythonVersion",
        '"3.7" given; allowed with runtimeVersion 2.21: 3.11',
    ),
    "a Python version that no runtime has": (
        [{"runtimeVersion": None, "pythonVersion": "2.7"}],
        "pythonVersion",
        '"2.7" given; allowed: 3.11, 3.10, 3.7',
    ),
    "a command without an image": (
        [{"workerConfig": {"containerCommand": ["sh"]}}],
        "workerConfig.containerCommand",
        '["sh"] given without imageUri, the image to start',
    ),
    "an image with spaces": (
        [
            {"masterConfig": {"imageUri": "gcr.io/p /i"}},
            {"runtimeVersion": None, "pythonVersion": None},
        ],
        "masterConfig.imageUri",
        (
            '"gcr.io/p /i" given, which is not the name of an image: it has a space; allowed: '
            "REGISTRY/REPOSITORY:TAG, such as gcr.io/my-project/trainer:v1"
        ),
    ),
    "a key that is none": (
        [{"encryptionConfig": {"kmsKeyName": "k"}}],
        "encryptionConfig.kmsKeyName",
        (
            '"k" given; allowed: '
            "projects/PROJECT/locations/LOCATION/keyRings/KEY_RING/cryptoKeys/KEY"
        ),
    ),
    "an account that is none": (
        [{"serviceAccount": "me"}],
        "serviceAccount",
        '"me" given; allowed: the e-mail address of a service account',
    ),
    "container arguments beside arguments": (
        [{"args": ["x"], "workerConfig": {"containerArgs": ["a"]}}],
        "workerConfig.containerArgs",
        (
            '["a"] given without imageUri, the image to start, and given together with '
            "trainingInput.args; allowed: one of the two"
        ),
    ),
    "an image for workers alone": (
        [{"workerConfig": {"imageUri": "gcr.io/p/w"}}],
        "workerConfig.imageUri",
        ('"gcr.io/p/w" given without masterConfig.imageUri: all roles must be containers, or none'),
    ),
    "a TPU version where there is no TPU": (
        [CUSTOM, {"workerConfig": {"tpuTfVersion": "2.11"}}],
        "workerConfig.tpuTfVersion",
        '"2.11" given; allowed only for TPU workers (cloud_tpu) that run a container image',
    ),
    "a TPU version without an image": (
        [
            {**CUSTOM, "workerType": "cloud_tpu", "workerCount": 1},
            {"workerConfig": {"tpuTfVersion": "2.11"}},
        ],
        "workerConfig.tpuTfVersion",
        '"2.11" given; allowed only for TPU workers (cloud_tpu) that run a container image',
    ),
}


@pytest.mark.parametrize(("parts", "field", "description"), REFUSED.values(), ids=REFUSED)
def test_a_rule_says_where_and_what_is_allowed(
    parts: list[JsonObject], field: str, description: str
) -> None:
    assert refused(*parts) == {field: description}


ALLOWED: list[list[JsonObject]] = [
    [{"packageUris": ["gs://b/p.tar.gz"] * 100}],
    [{"pythonVersion": None}],
    [{"runtimeVersion": None}],
    [{"runtimeVersion": None, "pythonVersion": None}],
    [{"runtimeVersion": "1.15", "pythonVersion": "3.7"}],
    [{"runtimeVersion": "1.13", "pythonVersion": "3.5"}],  # that it isn't here others find out
]


@pytest.mark.parametrize("parts", ALLOWED)
def test_the_neighbours_pass(parts: list[JsonObject]) -> None:
    assert refused(*parts) == {}


CONTAINERS: list[JsonObject] = [
    {"args": ["x"]},
    {"packageUris": ["gs://b/p.tar.gz"], "pythonModule": "a.b"},
    {"masterConfig": {"imageUri": "i", "containerCommand": ["c"], "containerArgs": ["a"]}},
    {"workerConfig": {"containerArgs": ["a"]}},
    {"workerConfig": {"imageUri": "j", "containerCommand": ["c"]}},
    {"useChiefInTfConfig": True},
    {"scaleTier": "BASIC_TPU", "workerConfig": {"tpuTfVersion": "2.11"}},
    {
        **CUSTOM,
        "workerType": "cloud_tpu",
        "workerCount": 1,
        "workerConfig": {"tpuTfVersion": "1.15"},
    },
]


@pytest.mark.parametrize("part", CONTAINERS)
def test_containers_pass(part: JsonObject) -> None:
    assert refused(IMAGE, part, base={}) == {}
