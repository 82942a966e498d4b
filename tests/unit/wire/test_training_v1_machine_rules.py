"""What ml v1 refuses of machines, accelerators and regions, and what next to it passes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.catalogue import Accelerator, AcceleratorKind
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.rules.jobs import known_here
from footplate.wire.training_v1.submissions import read_submission
from tests.unit.wire.training_v1_inputs import CATALOGUE, CUSTOM, PACKAGES, T4, gpus, refused

REFUSED: dict[str, tuple[list[JsonObject], str, str]] = {
    "an unknown machine type": (
        [{"scaleTier": "CUSTOM", "masterType": "n1-standrad-4"}],
        "masterType",
        (
            "'n1-standrad-4' given, which is not a machine type of the catalogue; "
            "did you mean n1-standard-4 or n1-standard-64 or n1-standard-1?"
        ),
    ),
    "an unknown type of a role without replicas": (
        [CUSTOM, {"workerType": "huge"}],
        "workerType",
        (
            "'huge' given, which is not a machine type of the catalogue; "
            f"there are {len(known_here(CATALOGUE).machine_types)} machine types, such as "
            "a2-highgpu-1g, a2-highgpu-2g, a2-highgpu-4g"
        ),
    ),
    "a machine type of Vertex AI": (
        [{"scaleTier": "CUSTOM", "masterType": "g2-standard-4"}],
        "masterType",
        (
            '"g2-standard-4" given, a machine type of Vertex AI only; allowed: machine types of '
            "AI Platform Training (ml v1), such as n1-standard-8 or a2-highgpu-1g"
        ),
    ),
    "Vertex AI's name for TPUs": (
        [CUSTOM, {"workerType": "cloud-tpu", "workerCount": 1}],
        "workerType",
        (
            '"cloud-tpu" given, a machine type of Vertex AI only; allowed: machine types of '
            "AI Platform Training (ml v1), such as cloud_tpu"
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
            "'standard_gpu' given, a legacy machine type, but 'n1-standard-4' in "
            "trainingInput.masterType is a Compute Engine type; allowed: one kind of machine "
            "type for all replicas of a job; standard_gpu is like n1-standard-8 with 1 "
            "NVIDIA_TESLA_K80"
        ),
    ),
    "an accelerator on a legacy type": (
        [
            {"scaleTier": "CUSTOM", "masterType": "complex_model_m"},
            {"masterConfig": {"acceleratorConfig": T4}},
        ],
        "masterConfig.acceleratorConfig.type",
        (
            "complex_model_m is a legacy machine type, which takes no accelerators (it comes with "
            "none); allowed: a Compute Engine machine type that takes them, such as n1-highcpu-16"
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
            "NVIDIA_TESLA_V100 x1 on n1-standard-32: valid counts are 4, 8; n1-standard-32 has "
            "32 vCPU and 120 GB, 1 NVIDIA_TESLA_V100 serves at most 12 vCPU and 76 GB, so this "
            "type needs at least 4"
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
        (
            "required: the accelerator type, because the count is 1; n1-highcpu-8 takes no "
            "accelerators"
        ),
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
            "'us-centra1' given, which is not a region of the catalogue; did you mean "
            "us-central1 or "
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
}


@pytest.mark.parametrize(("parts", "field", "description"), REFUSED.values(), ids=REFUSED)
def test_a_rule_says_where_and_what_is_allowed(
    parts: list[JsonObject], field: str, description: str
) -> None:
    assert refused(*parts) == {field: description}


ALLOWED: list[list[JsonObject]] = [
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
]


@pytest.mark.parametrize("parts", ALLOWED)
def test_the_neighbours_pass(parts: list[JsonObject]) -> None:
    assert refused(*parts) == {}


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
        "'us-central1' given; all replicas of a job run in one zone, but no zone of this "
        "region has "
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
