"""Each rule of ml v1: what it refuses, in which words, and the neighbours that it lets pass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.catalogue import load_catalogue
from footplate.domain.catalogue import Accelerator, AcceleratorKind
from footplate.wire.training_v1.machine_types import known_here
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


def categories(name: str, count: int) -> JsonObject:
    values: list[JsonValue] = [str(number) for number in range(count)]
    return {"parameterName": name, "type": "CATEGORICAL", "categoricalValues": values}


REFUSED: dict[str, tuple[list[JsonObject], str, str]] = {
    # Scale tiers and roles
    "a count of a predefined tier": (
        [{"scaleTier": "BASIC", "workerCount": 2}],
        "workerCount",
        "2 given; allowed only with scaleTier CUSTOM, and it is BASIC",
    ),
    "a type of a predefined tier": (
        [{"scaleTier": "STANDARD_1", "parameterServerType": "n1-standard-4"}],
        "parameterServerType",
        '"n1-standard-4" given; allowed only with scaleTier CUSTOM, and it is STANDARD_1',
    ),
    "a type without a tier": (
        [{"masterType": "n1-standard-4"}],
        "masterType",
        '"n1-standard-4" given; allowed only with scaleTier CUSTOM, and it is BASIC',
    ),
    "an accelerator of a predefined tier": (
        [{"scaleTier": "BASIC_GPU", "masterConfig": {"acceleratorConfig": T4}}],
        "masterConfig.acceleratorConfig",
        (
            '{"count": "1", "type": "NVIDIA_TESLA_T4"} given; allowed only with scaleTier CUSTOM, '
            "and it is BASIC_GPU"
        ),
    ),
    "CUSTOM without a master": (
        [{"scaleTier": "CUSTOM"}],
        "masterType",
        "required with scaleTier CUSTOM: a machine type, such as n1-standard-4",
    ),
    "a count without its type": (
        [CUSTOM, {"workerCount": 2}],
        "workerType",
        "required beside workerCount 2: a machine type, such as n1-standard-4",
    ),
    "an evaluator without its type": (
        [CUSTOM, {"evaluatorCount": 1}],
        "evaluatorType",
        "required beside evaluatorCount 1: a machine type, such as n1-standard-4",
    ),
    "a negative count": (
        [CUSTOM, {"workerType": "n1-standard-4", "workerCount": -1}],
        "workerCount",
        "-1 given; allowed: 0 to 10000",
    ),
    "a count beyond reason": (
        [CUSTOM, {"parameterServerType": "n1-standard-4", "parameterServerCount": 10**12}],
        "parameterServerCount",
        "1000000000000 given; allowed: 0 to 10000",
    ),
    # Machines
    "an unknown machine type": (
        [{"scaleTier": "CUSTOM", "masterType": "n1-standrad-4"}],
        "masterType",
        (
            "'n1-standrad-4' given, which is no machine type of the catalogue; "
            "did you mean n1-standard-4 or n1-standard-64 or n1-standard-1?"
        ),
    ),
    "an unknown type of a role without replicas": (
        [CUSTOM, {"workerType": "huge"}],
        "workerType",
        (
            "'huge' given, which is no machine type of the catalogue; "
            f"there are {len(known_here(CATALOGUE).machine_types)} machine types, such as "
            "a2-highgpu-1g, a2-highgpu-2g, a2-highgpu-4g"
        ),
    ),
    "a machine type of Vertex AI": (
        [{"scaleTier": "CUSTOM", "masterType": "g2-standard-4"}],
        "masterType",
        (
            '"g2-standard-4" given, a machine type of Vertex AI alone; allowed: those of ml v1, '
            "such as n1-standard-8 or a2-highgpu-1g"
        ),
    ),
    "Vertex AI's name for TPUs": (
        [CUSTOM, {"workerType": "cloud-tpu", "workerCount": 1}],
        "workerType",
        (
            '"cloud-tpu" given, a machine type of Vertex AI alone; allowed: those of ml v1, '
            "such as cloud_tpu"
        ),
    ),
    "a TPU on a machine of its own": (
        [
            {"scaleTier": "CUSTOM", "masterType": "n1-highmem-96"},
            {"masterConfig": gpus("TPU_V2", 8)},
        ],
        "masterConfig.acceleratorConfig.type",
        (
            "TPU_V2 can't be attached to n1-highmem-96; n1-highmem-96 takes NVIDIA_TESLA_P4 (4), "
            "NVIDIA_TESLA_T4 (4), NVIDIA_TESLA_V100 (8); TPU_V2 goes with cloud_tpu"
        ),
    ),
    "both families": (
        [CUSTOM, {"workerType": "standard_gpu", "workerCount": 1}],
        "workerType",
        (
            "'standard_gpu' given, a legacy machine type, and trainingInput.masterType "
            "'n1-standard-4' is a Compute Engine one; allowed: one kind for all replicas of a job; "
            "standard_gpu is like n1-standard-8 with 1 NVIDIA_TESLA_K80"
        ),
    ),
    "an accelerator on a legacy type": (
        [
            {"scaleTier": "CUSTOM", "masterType": "complex_model_m"},
            {"masterConfig": {"acceleratorConfig": T4}},
        ],
        "masterConfig.acceleratorConfig.type",
        (
            "complex_model_m is a legacy machine type, to which no accelerators can be "
            "attached (it "
            "comes with none); allowed: a Compute Engine machine type that takes them, such as "
            "n1-highcpu-16"
        ),
    ),
    "a count that isn't valid": (
        [
            {"scaleTier": "CUSTOM", "masterType": "n1-highcpu-16"},
            {"masterConfig": gpus("NVIDIA_TESLA_T4", "3")},
        ],
        "masterConfig.acceleratorConfig.count",
        "NVIDIA_TESLA_T4 x3 on n1-highcpu-16: valid counts are 1, 2, 4",
    ),
    "a machine too large for its accelerators": (
        [
            {"scaleTier": "CUSTOM", "masterType": "n1-standard-32"},
            {"masterConfig": gpus("NVIDIA_TESLA_V100", 1)},
        ],
        "masterConfig.acceleratorConfig.count",
        (
            "NVIDIA_TESLA_V100 x1 on n1-standard-32: valid counts are 4, 8; n1-standard-32 has 32 "
            "vCPU and 120 GB, 1 NVIDIA_TESLA_V100 serves at most 12 vCPU and 76 GB, so it needs at "
            "least 4"
        ),
    ),
    "eight K80 on too much memory": (
        [
            {"scaleTier": "CUSTOM", "masterType": "n1-highmem-64"},
            {"masterConfig": gpus("NVIDIA_TESLA_K80", 8)},
        ],
        "masterConfig.acceleratorConfig.type",
        (
            "NVIDIA_TESLA_K80 can't be attached to n1-highmem-64, since n1-highmem-64 has 64 "
            "vCPU and "
            "416 GB and 8 NVIDIA_TESLA_K80 serve at most 64 vCPU and 208 GB; n1-highmem-64 takes "
            "NVIDIA_TESLA_P4 (4), NVIDIA_TESLA_T4 (4), NVIDIA_TESLA_V100 (8); NVIDIA_TESLA_K80 "
            "goes "
            "with n1-highcpu-64, n1-highmem-32, n1-standard-32, n1-highcpu-32 and 8 more"
        ),
    ),
    "four P100 on too much memory": (
        [
            {"scaleTier": "CUSTOM", "masterType": "n1-standard-64"},
            {"masterConfig": gpus("NVIDIA_TESLA_P100", 4)},
        ],
        "masterConfig.acceleratorConfig.type",
        (
            "NVIDIA_TESLA_P100 can't be attached to n1-standard-64, since n1-standard-64 has "
            "64 vCPU "
            "and 240 GB and 4 NVIDIA_TESLA_P100 serve at most 64 vCPU and 208 GB; n1-standard-64 "
            "takes NVIDIA_TESLA_P4 (4), NVIDIA_TESLA_T4 (4), NVIDIA_TESLA_V100 (8); "
            "NVIDIA_TESLA_P100 "
            "goes with n1-highcpu-64, n1-highmem-32, n1-standard-32, n1-highcpu-32 and 8 more"
        ),
    ),
    "a type without its count": (
        [CUSTOM, {"masterConfig": {"acceleratorConfig": {"type": "NVIDIA_TESLA_T4"}}}],
        "masterConfig.acceleratorConfig.count",
        "required beside NVIDIA_TESLA_T4: valid counts on n1-standard-4 are 1, 2, 4",
    ),
    "a count without what is counted": (
        [
            CUSTOM,
            {"masterType": "n1-highcpu-8", "masterConfig": {"acceleratorConfig": {"count": 1}}},
        ],
        "masterConfig.acceleratorConfig.type",
        "required beside a count of 1; n1-highcpu-8 takes no accelerators",
    ),
    "an accelerator that there isn't": (
        [CUSTOM, {"masterConfig": gpus("NVIDIA_TESLA_Z9", 1)}],
        "masterConfig.acceleratorConfig.type",
        (
            '"NVIDIA_TESLA_Z9" given; allowed: ACCELERATOR_TYPE_UNSPECIFIED, NVIDIA_TESLA_K80, '
            "NVIDIA_TESLA_P100, NVIDIA_TESLA_V100, NVIDIA_TESLA_P4, NVIDIA_TESLA_T4, TPU_V2, "
            "TPU_V3, "
            "NVIDIA_TESLA_A100, TPU_V2_POD, TPU_V3_POD, TPU_V4_POD"
        ),
    ),
    "an accelerator of the other face": (
        [
            {"scaleTier": "CUSTOM", "masterType": "n1-standard-4"},
            {"masterConfig": gpus("NVIDIA_L4", 1)},
        ],
        "masterConfig.acceleratorConfig.type",
        (
            '"NVIDIA_L4" given; allowed: ACCELERATOR_TYPE_UNSPECIFIED, NVIDIA_TESLA_K80, '
            "NVIDIA_TESLA_P100, NVIDIA_TESLA_V100, NVIDIA_TESLA_P4, NVIDIA_TESLA_T4, TPU_V2, "
            "TPU_V3, "
            "NVIDIA_TESLA_A100, TPU_V2_POD, TPU_V3_POD, TPU_V4_POD"
        ),
    ),
    # Regions
    "no region": (
        [{"region": None}],
        "region",
        (
            f"required: the region of the job; there are {len(CATALOGUE.regions)} regions, such as "
            "africa-south1, asia-east1, asia-east2"
        ),
    ),
    "an unknown region": (
        [{"region": "us-centra1"}],
        "region",
        (
            "'us-centra1' given, which is no region of the catalogue; did you mean us-central1 or "
            "me-central1 or me-central2?"
        ),
    ),
    "a region without the accelerator": (
        [{**CUSTOM, "region": "europe-west2", "masterConfig": gpus("NVIDIA_TESLA_V100", 1)}],
        "masterConfig.acceleratorConfig.type",
        (
            "NVIDIA_TESLA_V100 given, which europe-west2 doesn't have; regions that have it: "
            "asia-east1, europe-west4, us-central1, us-east1, us-west1"
        ),
    ),
    "a region without the tier's accelerator": (
        [{"region": "europe-west2", "scaleTier": "BASIC_GPU"}],
        "scaleTier",
        (
            "BASIC_GPU brings NVIDIA_TESLA_K80, which europe-west2 doesn't have; regions that have "
            "it: asia-east1, europe-west1, us-central1, us-east1, us-west1"
        ),
    ),
    "a region without the legacy type's accelerator": (
        [{"region": "europe-west2", "scaleTier": "CUSTOM", "masterType": "standard_gpu"}],
        "masterType",
        (
            "standard_gpu brings NVIDIA_TESLA_K80, which europe-west2 doesn't have; regions "
            "that have "
            "it: asia-east1, europe-west1, us-central1, us-east1, us-west1"
        ),
    ),
    # Programs
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
        '"2.21" given beside masterConfig.imageUri; allowed: one of them',
    ),
    "a Python version beside an image": (
        [IMAGE, {"runtimeVersion": None}],
        "pythonVersion",
        '"3.11" given beside masterConfig.imageUri; allowed: one of them',
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
        '["sh"] given without imageUri, which it needs',
    ),
    "an image with spaces": (
        [
            {"masterConfig": {"imageUri": "gcr.io/p /i"}},
            {"runtimeVersion": None, "pythonVersion": None},
        ],
        "masterConfig.imageUri",
        '"gcr.io/p /i" given; allowed: the URI of a container image, without spaces',
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
            '["a"] given without imageUri, which it needs, and given beside trainingInput.args; '
            "allowed: one of them"
        ),
    ),
    "an image for workers alone": (
        [{"workerConfig": {"imageUri": "gcr.io/p/w"}}],
        "workerConfig.imageUri",
        (
            '"gcr.io/p/w" given without masterConfig.imageUri, which it needs: all roles are '
            "containers, or none"
        ),
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
    # Disks, times, names
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
        '"s3://b/x" given; allowed: gs://BUCKET/PATH, or an absolute path',
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
    # Searches
    "nothing to tune": (
        [{"hyperparameters": {"goal": "MAXIMIZE", "params": []}}],
        "hyperparameters.params",
        "required: the parameters to tune, unless resumePreviousJobId is given",
    ),
    "a negative number of trials": (
        [search(maxTrials=-1)],
        "hyperparameters.maxTrials",
        "-1 given; allowed: at least 1",
    ),
    "a negative number of trials at once": (
        [search(maxParallelTrials=-2)],
        "hyperparameters.maxParallelTrials",
        "-2 given; allowed: at least 1",
    ),
    "a metric that no program can report": (
        [search(hyperparameterMetricTag="m" * 1025)],
        "hyperparameters.hyperparameterMetricTag",
        "1025 characters given; allowed: at most 1024",
    ),
    "more categories than a model can have": (
        [search(*(categories(f"c{number}", 2001) for number in range(5)))],
        "hyperparameters.params",
        (
            "10005 categorical values in all; allowed: at most 10000, or algorithm RANDOM_SEARCH "
            "or GRID_SEARCH"
        ),
    ),
    "a category that no program can be started with": (
        [
            search(
                {"parameterName": "c", "type": "CATEGORICAL", "categoricalValues": ["é" * 50_001]}
            )
        ],
        "hyperparameters.params[0].categoricalValues[0]",
        "100002 bytes given; allowed: at most 100000",
    ),
    "a negative number of failures": (
        [search(maxFailedTrials=-1)],
        "hyperparameters.maxFailedTrials",
        "-1 given; allowed: 0 (the service decides) or more",
    ),
    "more failures than trials": (
        [search(maxTrials=3, maxFailedTrials=4)],
        "hyperparameters.maxFailedTrials",
        "4 given; allowed: at most 3, the number of trials",
    ),
    "a job that can't have been": (
        [{"hyperparameters": {"resumePreviousJobId": "1-x"}}],
        "hyperparameters.resumePreviousJobId",
        (
            "'1-x' given; allowed: letters, digits and underscores, first a letter, at most 128 "
            "characters"
        ),
    ),
    "a job that goes on from itself": (
        [{"hyperparameters": {"resumePreviousJobId": "job_1"}}],
        "hyperparameters.resumePreviousJobId",
        '"job_1" given, this job; allowed: an earlier one',
    ),
    "a parameter without a name": (
        [search(param(parameterName=None))],
        "hyperparameters.params[0].parameterName",
        "required: the name, which the program gets as --NAME=VALUE",
    ),
    "two parameters of one name": (
        [search(param(), param())],
        "hyperparameters.params[1].parameterName",
        (
            "'lr' given, as in trainingInput.hyperparameters.params[0].parameterName; allowed: "
            "unique "
            "names"
        ),
    ),
    "a name that no program could read": (
        [search(param(parameterName="a=b"))],
        "hyperparameters.params[0].parameterName",
        "'a=b' given; allowed: a name without = and white space",
    ),
    "a name with the dashes that are put before it": (
        [search(param(parameterName="--a"))],
        "hyperparameters.params[0].parameterName",
        "'--a' given; allowed: 'a', which the program gets as --NAME=VALUE",
    ),
    "a name that the service uses itself": (
        [search(param(parameterName="job-dir")), {"jobDir": "gs://b/x"}],
        "hyperparameters.params[0].parameterName",
        '"job-dir" given; allowed: another name, since jobDir reaches the program as --job-dir',
    ),
    "a parameter without a type": (
        [search(param(type=None))],
        "hyperparameters.params[0].type",
        "required: DOUBLE, INTEGER, CATEGORICAL or DISCRETE",
    ),
    "a parameter of unspecified type": (
        [search(param(type="PARAMETER_TYPE_UNSPECIFIED"))],
        "hyperparameters.params[0].type",
        "required: DOUBLE, INTEGER, CATEGORICAL or DISCRETE",
    ),
    "no bounds": (
        [search(param(minValue=None, maxValue=None))],
        "hyperparameters.params[0].minValue",
        "required for DOUBLE; an absent bound is 0",
    ),
    "no upper bound": (
        [search(param(maxValue=None))],
        "hyperparameters.params[0].maxValue",
        "required for DOUBLE; an absent bound is 0",
    ),
    "bounds in the wrong order": (
        [search(param(minValue=2, maxValue=1))],
        "hyperparameters.params[0].maxValue",
        "1 given; allowed: at least 2, the lower bound",
    ),
    "half an integer": (
        [search(param(type="INTEGER", minValue=0.5))],
        "hyperparameters.params[0].minValue",
        "0.5 given; allowed for an integer: a whole number",
    ),
    "an integer of 65 bits": (
        [search(param(type="INTEGER", minValue=0, maxValue=2.0**63))],
        "hyperparameters.params[0].maxValue",
        "9.223372036854776e+18 given; allowed for an integer: a whole number of 64 bits",
    ),
    "a logarithm of 0": (
        [search(param(minValue=0, scaleType="UNIT_LOG_SCALE"))],
        "hyperparameters.params[0].minValue",
        "0 given; allowed with scaleType UNIT_LOG_SCALE: more than 0",
    ),
    "a reverse logarithm of 0": (
        [search(param(minValue=None, scaleType="UNIT_REVERSE_LOG_SCALE"))],
        "hyperparameters.params[0].minValue",
        "0 given; allowed with scaleType UNIT_REVERSE_LOG_SCALE: more than 0",
    ),
    "a grid over real numbers": (
        [search(algorithm="GRID_SEARCH")],
        "hyperparameters.params[0].type",
        "DOUBLE given; allowed with algorithm GRID_SEARCH: INTEGER, CATEGORICAL, DISCRETE",
    ),
    "no categories": (
        [search({"parameterName": "x", "type": "CATEGORICAL"})],
        "hyperparameters.params[0].categoricalValues",
        "required for CATEGORICAL: the values to choose from",
    ),
    "bounds of categories": (
        [search(param(type="CATEGORICAL", categoricalValues=["a"], minValue=0))],
        "hyperparameters.params[0].maxValue",
        "1 given; allowed for CATEGORICAL: no bounds",
    ),
    "no discrete values": (
        [search({"parameterName": "x", "type": "DISCRETE"})],
        "hyperparameters.params[0].discreteValues",
        "required: 1 to 1000 numbers, increasing",
    ),
    "too many discrete values": (
        [search({"parameterName": "x", "type": "DISCRETE", "discreteValues": list(range(1001))})],
        "hyperparameters.params[0].discreteValues",
        "1001 given; allowed: at most 1000",
    ),
    "discrete values that don't increase": (
        [search({"parameterName": "x", "type": "DISCRETE", "discreteValues": [1, 2, 2]})],
        "hyperparameters.params[0].discreteValues[2]",
        "2 given, behind 2; allowed: increasing numbers",
    ),
    "a discrete value without logarithm": (
        [
            search(
                {
                    "parameterName": "x",
                    "type": "DISCRETE",
                    "discreteValues": [-1, 2],
                    "scaleType": "UNIT_LOG_SCALE",
                }
            )
        ],
        "hyperparameters.params[0].discreteValues[0]",
        "-1 given; allowed with scaleType UNIT_LOG_SCALE: more than 0",
    ),
    # The schema
    "an unknown field": (
        [{"workerCuont": 2}],
        "workerCuont",
        "unknown field; did you mean workerCount or workerConfig?",
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


@pytest.mark.parametrize("case", REFUSED)
def test_a_rule_says_where_and_what_is_allowed(case: str) -> None:
    parts, field, description = REFUSED[case]
    found = refused(*parts)
    if case == "no bounds":
        assert found.pop("hyperparameters.params[0].maxValue") == description
    assert found == {field: description}


ALLOWED: list[list[JsonObject]] = [
    [],
    [{"scaleTier": None}],
    [{"scaleTier": 0, "workerCount": "0"}],
    [{"scaleTier": "BASIC", "masterConfig": {"acceleratorConfig": {}}}],
    [{"scaleTier": "PREMIUM_1"}],
    [{"scaleTier": "BASIC_TPU"}],
    [{"scaleTier": "BASIC_GPU", "region": "us-west1"}],
    [CUSTOM],
    [CUSTOM, {"workerType": "n1-highcpu-16"}],
    [CUSTOM, {"workerType": "n1-standard-4", "workerCount": "10000", "workerConfig": {}}],
    [CUSTOM, {"masterConfig": gpus("NVIDIA_TESLA_T4", "4")}],
    [CUSTOM, {"masterConfig": gpus("ACCELERATOR_TYPE_UNSPECIFIED", 0)}],
    [CUSTOM, {"masterConfig": {"acceleratorConfig": {"type": 5, "count": 2.0}}}],
    [
        {"scaleTier": "CUSTOM", "masterType": "n1-highcpu-64"},
        {"masterConfig": gpus("NVIDIA_TESLA_K80", 8)},
    ],
    [
        {"scaleTier": "CUSTOM", "masterType": "a2-megagpu-16g"},
        {"masterConfig": gpus("NVIDIA_TESLA_A100", 16)},
    ],
    [{"scaleTier": "CUSTOM", "masterType": "complex_model_l_v100"}],
    [
        {
            "scaleTier": "CUSTOM",
            "masterType": "standard",
            "workerType": "cloud_tpu",
            "workerCount": 1,
        }
    ],
    [
        {**CUSTOM, "workerType": "cloud_tpu", "workerCount": 1},
        {"workerConfig": gpus("TPU_V3", 8)},
    ],
    [{"packageUris": ["gs://b/p.tar.gz"] * 100}],
    [{"pythonVersion": None}],
    [{"runtimeVersion": None}],
    [{"runtimeVersion": None, "pythonVersion": None}],
    [{"runtimeVersion": "1.15", "pythonVersion": "3.7"}],
    [{"runtimeVersion": "1.13", "pythonVersion": "3.5"}],  # that it isn't here others find out
    [{"masterConfig": {"diskConfig": {"bootDiskSizeGb": 10, "bootDiskType": "pd-standard"}}}],
    [{"masterConfig": {"diskConfig": {"bootDiskSizeGb": 65536}}}],
    [{"masterConfig": {"diskConfig": {"bootDiskSizeGb": 0, "bootDiskType": ""}}}],
    [{"scheduling": {"maxRunningTime": "0.001s", "maxWaitTime": "1800s", "priority": 1000}}],
    [{"scheduling": {"maxRunningTime": "3155760000s", "priority": 0}}],
    [{"jobDir": "gs://b"}],
    [{"jobDir": "/data/out"}],
    [{"network": "projects/12345/global/networks/default"}],
    [{"useChiefInTfConfig": True, "enableWebAccess": True, "serviceAccount": "x@y.z"}],
    [search()],
    [search(maxTrials=0, maxParallelTrials=0, maxFailedTrials=0)],
    [search(maxTrials=3, maxFailedTrials=3, maxParallelTrials=9)],
    [search(param(minValue=None))],
    [search(param(minValue=-1, maxValue=None))],
    [search(param(minValue=1, maxValue=1))],
    [search(param(type="INTEGER", minValue=1, maxValue=3), algorithm="GRID_SEARCH")],
    [search(param(scaleType="UNIT_LOG_SCALE"), algorithm=2)],
    [search(param(parameterName="job-dir"))],
    [search(param(parameterName="learning rate".replace(" ", "-")))],
    [search(param(type="CATEGORICAL", categoricalValues=[""], minValue=0, maxValue=0))],
    [search({"parameterName": "x", "type": "DISCRETE", "discreteValues": list(range(1000))})],
    [search(param(type="DISCRETE", discreteValues=[-1, 0.5]))],
    [{"hyperparameters": {"resumePreviousJobId": "earlier", "maxTrials": 5}}],
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


@pytest.mark.parametrize(
    "kind", ["ct5lp-hightpu-4t", "a2-ultragpu-1g", "a3-highgpu-8g", "g4-standard-48"]
)
def test_what_came_after_ml_v1_is_refused(kind: str) -> None:
    assert list(refused({"scaleTier": "CUSTOM", "masterType": kind})) == ["masterType"]


@pytest.mark.parametrize("kind", ["a2-highgpu-1g", "a2-megagpu-16g", "m1-ultramem-40", "standard"])
def test_what_ml_v1_had_is_not(kind: str) -> None:
    assert refused({"scaleTier": "CUSTOM", "masterType": kind}) == {}


def test_three_gpus_that_no_zone_has_together() -> None:
    """The example of the service's own page on GPUs."""
    found = refused(
        CUSTOM,
        {"masterConfig": gpus("NVIDIA_TESLA_T4", 1)},
        {"workerType": "n1-standard-4", "workerCount": 3},
        {"workerConfig": gpus("NVIDIA_TESLA_P100", 1)},
        {"parameterServerType": "n1-standard-4", "parameterServerCount": 2},
        {"parameterServerConfig": gpus("NVIDIA_TESLA_K80", 1)},
    )
    assert list(found) == ["region"]
    assert found["region"].startswith(
        "'us-central1' given; all replicas of a job run in one zone, and none of this region has "
        "NVIDIA_TESLA_T4, NVIDIA_TESLA_P100 and NVIDIA_TESLA_K80 together: us-central1-a has "
    )
    assert "; allowed: a region with such a zone, " in found["region"]


def test_a_tier_that_isnt_known_hides_no_machine_that_isnt() -> None:
    found = refused(
        {"scaleTier": "CUSTM", "masterType": "n1-standard-3", "workerType": "n1-standard-4"},
        {"masterConfig": gpus("GTX", 1), "workerConfig": gpus("NVIDIA_TESLA_T4", 3)},
        {"parameterServerType": "standard"},
    )
    assert list(found) == [
        "scaleTier",
        "masterConfig.acceleratorConfig.type",
        "masterType",
        "workerConfig.acceleratorConfig.count",
        "parameterServerType",
    ]


def test_both_that_an_accelerator_doesnt_fit_and_that_it_isnt_there() -> None:
    found = refused(
        {"scaleTier": "CUSTOM", "masterType": "n1-standard-1", "region": "africa-south1"},
        {"masterConfig": gpus("NVIDIA_TESLA_T4", 1)},
    )
    (said,) = found.values()
    assert said.startswith("NVIDIA_TESLA_T4 can't be attached to n1-standard-1; ")
    assert "; and NVIDIA_TESLA_T4 given, which africa-south1 doesn't have; " in said


def test_both_that_a_bound_isnt_whole_and_that_it_is_too_low() -> None:
    bounds = param(type="INTEGER", minValue=2.5, maxValue=1.5)
    assert refused(search(bounds))["hyperparameters.params[0].maxValue"] == (
        "1.5 given; allowed for an integer: a whole number; allowed: at least 2.5, the lower bound"
    )


def test_a_discrete_value_isnt_compared_with_one_that_is_no_number() -> None:
    values = param(type="DISCRETE", minValue=None, maxValue=None, discreteValues=["x", -5, -6])
    assert list(refused(search(values))) == [
        "hyperparameters.params[0].discreteValues[0]",
        "hyperparameters.params[0].discreteValues[2]",
    ]


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


def test_an_operators_own_accelerator_can_be_named() -> None:
    own = Accelerator("NVIDIA_RTX_4090", AcceleratorKind.GPU, 24)
    machine = CATALOGUE.machine_types["n1-standard-4"]
    region = CATALOGUE.regions["us-central1"]
    zone = replace(region.zones[0], accelerators=frozenset({own.name}))
    catalogue = replace(
        CATALOGUE,
        accelerators={**CATALOGUE.accelerators, own.name: own},
        machine_types={"box": replace(machine, name="box", accelerators={own.name: (1, 2)})},
        regions={"us-central1": replace(region, zones=(zone,))},
        own=frozenset({own.name, "box"}),
    )
    for count, field in ((2, None), (3, "trainingInput.masterConfig.acceleratorConfig.count")):
        training: JsonObject = {
            **PACKAGES,
            "region": "us-central1",
            "scaleTier": "CUSTOM",
            "masterType": "box",
            "masterConfig": gpus(own.name, count),
        }
        document: JsonObject = {"jobId": "j", "trainingInput": training}
        found = read_submission(document, "demo", catalogue).violations
        assert [violation.field for violation in found] == [field] * (field is not None)


@given(
    st.sampled_from(["BASIC", "STANDARD_1", "CUSTOM", "BASIC_GPU"]),
    st.sampled_from(["", *CATALOGUE.machine_types]),
    st.integers(-1, 3),
    st.sampled_from(sorted(CATALOGUE.accelerators)),
    st.integers(-1, 17),
    st.sampled_from([*CATALOGUE.regions, ""]),
)
def test_accepted_jobs_have_a_zone_and_their_replicas(
    tier: str, machine: str, workers: int, accelerator: str, count: int, region: str
) -> None:
    made = submission(
        {"scaleTier": tier, "masterType": machine, "workerType": machine, "workerCount": workers},
        {"workerConfig": gpus(accelerator, count), "region": region},
    )
    if made.violations:
        return
    counts = {"BASIC": 1, "BASIC_GPU": 1, "STANDARD_1": 8, "CUSTOM": 1 + workers}
    assert len(made.spec.replica_names()) == counts[tier]
    for pool in made.spec.pools:
        assert pool.machine.machine_type in CATALOGUE.machine_types
