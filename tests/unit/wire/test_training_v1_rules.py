"""What ml v1 refuses of disks, times, names and unknown fields, and what next to it passes; and all
of a job at once."""

from __future__ import annotations

import pytest

from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.submissions import read_submission
from tests.unit.wire.training_v1_inputs import CATALOGUE, gpus, param, refused, search

REFUSED: dict[str, tuple[list[JsonObject], str, str]] = {
    "an unknown disk": (
        [{"masterConfig": {"diskConfig": {"bootDiskType": "tape"}}}],
        "masterConfig.diskConfig.bootDiskType",
        '"tape" given; allowed: pd-ssd, pd-standard',
    ),
    "a disk too small": (
        [{"workerConfig": {"diskConfig": {"bootDiskSizeGb": 9}}}],
        "workerConfig.diskConfig.bootDiskSizeGb",
        "9 given; allowed: 10 to 65536 GB, or 0 for the default of 100",
    ),
    "a disk too large": (
        [{"masterConfig": {"diskConfig": {"bootDiskSizeGb": 65537}}}],
        "masterConfig.diskConfig.bootDiskSizeGb",
        "65537 given; allowed: 10 to 65536 GB, or 0 for the default of 100",
    ),
    "no running time": (
        [{"scheduling": {"maxRunningTime": "0s"}}],
        "scheduling.maxRunningTime",
        '"0s" given; allowed: more than 0s to 3155760000s (100 years)',
    ),
    "an endless running time": (
        [{"scheduling": {"maxRunningTime": "315576000000s"}}],
        "scheduling.maxRunningTime",
        '"315576000000s" given; allowed: more than 0s to 3155760000s (100 years)',
    ),
    "too short a wait": (
        [{"scheduling": {"maxWaitTime": "1799.9s"}}],
        "scheduling.maxWaitTime",
        '"1799.9s" given; allowed: 1800s to 3155760000s (100 years)',
    ),
    "too high a priority": (
        [{"scheduling": {"priority": 1001}}],
        "scheduling.priority",
        "1001 given; allowed: 0 to 1000",
    ),
    "too low a priority": (
        [{"scheduling": {"priority": -1}}],
        "scheduling.priority",
        "-1 given; allowed: 0 to 1000",
    ),
    "a job directory elsewhere": (
        [{"jobDir": "s3://b/x"}],
        "jobDir",
        '"s3://b/x" given; allowed: gs://BUCKET/PATH',
    ),
    "a job directory without a bucket": (
        [{"jobDir": "relative"}],
        "jobDir",
        '"relative" given; allowed: gs://BUCKET/PATH',
    ),
    "a job directory that climbs": (
        [{"jobDir": "/data/../etc"}],
        "jobDir",
        '"/data/../etc" given; allowed: a path without ..',
    ),
    "a network by its name alone": (
        [{"network": "default"}],
        "network",
        '"default" given; allowed: projects/PROJECT_NUMBER/global/networks/NETWORK',
    ),
    "an unknown field": (
        [{"workerCuont": 2}],
        "workerCuont",
        "unknown name; did you mean workerCount or workerConfig?",
    ),
    "an unknown enum value": (
        [search(param(type="FDOUBLE"))],
        "hyperparameters.params[0].type",
        (
            '"FDOUBLE" given; allowed: PARAMETER_TYPE_UNSPECIFIED, DOUBLE, INTEGER, CATEGORICAL, '
            "DISCRETE"
        ),
    ),
    "an unknown scale tier": (
        [{"scaleTier": "HUGE", "masterType": "n1-standard-4", "workerCount": 3}],
        "scaleTier",
        '"HUGE" given; allowed: BASIC, STANDARD_1, PREMIUM_1, BASIC_GPU, BASIC_TPU, CUSTOM',
    ),
}


@pytest.mark.parametrize(("parts", "field", "description"), REFUSED.values(), ids=REFUSED)
def test_a_rule_says_where_and_what_is_allowed(
    parts: list[JsonObject], field: str, description: str
) -> None:
    assert refused(*parts) == {field: description}


ALLOWED: list[list[JsonObject]] = [
    [{"masterConfig": {"diskConfig": {"bootDiskSizeGb": 10, "bootDiskType": "pd-standard"}}}],
    [{"masterConfig": {"diskConfig": {"bootDiskSizeGb": 65536}}}],
    [{"masterConfig": {"diskConfig": {"bootDiskSizeGb": 0, "bootDiskType": ""}}}],
    [{"scheduling": {"maxRunningTime": "0.001s", "maxWaitTime": "1800s", "priority": 1000}}],
    [{"scheduling": {"maxRunningTime": "3155760000s", "priority": 0}}],
    [{"jobDir": "gs://b"}],
    [{"jobDir": "/data/out"}],
    [{"network": "projects/12345/global/networks/default"}],
    [{"useChiefInTfConfig": True, "enableWebAccess": True, "serviceAccount": "x@y.z"}],
]


@pytest.mark.parametrize("parts", ALLOWED)
def test_the_neighbours_pass(parts: list[JsonObject]) -> None:
    assert refused(*parts) == {}


def test_everything_at_once() -> None:
    """Schema, rules and machines, each field once, and no echo of one mistake in another."""
    document: JsonObject = {
        "jobId": "1-job",
        "labels": {"A": "b", "B": "c", "c": "D", "d": 5},
        "job": {},
        "trainingInput": {
            "scaleTier": "CUSTOM",
            "masterType": "n1-standard-32",
            "masterConfig": {"imageUri": 7, **gpus("NVIDIA_TESLA_V100", 2)},
            "workerType": "standard_gpu",
            "workerCount": "2",
            "parameterServerCount": 1.5,
            "evaluatorCount": 1,
            "region": "us-central1",
            "args": ["a", 1],
            "jobDir": "s3://b/x",
            "runtimeVersion": "2.21",
            "pythonVersion": "2.7",
            "scheduling": {"maxRunningTime": 3600, "maxWaitTime": "60s", "priority": "1001"},
            "hyperparameters": {
                "maxTrials": "many",
                "maxFailedTrials": 2,
                "params": [param(type="FLOAT", minValue=3), param(), 5],
            },
        },
    }
    found = read_submission(document, "demo", CATALOGUE).violations
    assert [violation.field.removeprefix("trainingInput.") for violation in found] == [
        "job",
        "masterConfig.imageUri",
        "parameterServerCount",
        "args[1]",
        "hyperparameters.params[0].type",
        "hyperparameters.params[2]",
        "hyperparameters.maxTrials",
        "scheduling.maxRunningTime",
        "labels.d",
        "jobId",
        "labels",
        "labels.c",
        "evaluatorType",
        "masterConfig.acceleratorConfig.count",
        "workerType",
        "pythonVersion",
        "jobDir",
        "scheduling.maxWaitTime",
        "scheduling.priority",
        "hyperparameters.params[1].parameterName",
    ]
