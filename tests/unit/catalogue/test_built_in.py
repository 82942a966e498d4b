"""The built-in catalogue: what the documents say of machines, zones and tiers."""

from __future__ import annotations

import re

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.catalogue import (
    Accelerator,
    AcceleratorKind,
    Family,
    MachineType,
    inconsistencies,
)
from footplate.domain.jobs import MachineSpec
from footplate.wire.training_v1.enums import AcceleratorType as TrainingAccelerator
from footplate.wire.training_v1.enums import ScaleTier
from footplate.wire.vertex_v1.enums import AcceleratorType as VertexAccelerator

CATALOGUE = load_catalogue()
K80, P4, P100, T4, V100, A100 = (
    f"NVIDIA_TESLA_{name}" for name in ("K80", "P4", "P100", "T4", "V100", "A100")
)

SMALL = {K80: (1, 2, 4, 8), P4: (1, 2, 4), P100: (1, 2, 4), T4: (1, 2, 4), V100: (1, 2, 4, 8)}
OF_16 = {K80: (2, 4, 8), P4: (1, 2, 4), P100: (1, 2, 4), T4: (1, 2, 4), V100: (2, 4, 8)}
OF_32 = {K80: (4, 8), P4: (2, 4), P100: (2, 4), T4: (2, 4), V100: (4, 8)}
LARGE = {P4: (4,), T4: (4,), V100: (8,)}
TABLE = {
    **dict.fromkeys(("n1-standard-4", "n1-standard-8"), SMALL),
    **dict.fromkeys(("n1-highmem-2", "n1-highmem-4", "n1-highmem-8"), SMALL),
    **dict.fromkeys(("n1-standard-16", "n1-highmem-16", "n1-highcpu-16"), OF_16),
    **dict.fromkeys(("n1-standard-32", "n1-highmem-32", "n1-highcpu-32"), OF_32),
    **dict.fromkeys(("n1-standard-64", "n1-highmem-64"), LARGE),
    **dict.fromkeys(("n1-standard-96", "n1-highmem-96", "n1-highcpu-96"), LARGE),
    "n1-highcpu-64": {K80: (8,), P4: (4,), P100: (4,), T4: (4,), V100: (8,)},
    **{f"a2-highgpu-{n}g": {A100: (n,)} for n in (1, 2, 4, 8)},
    "a2-megagpu-16g": {A100: (16,)},
}
GPU_REGIONS = {
    "us-west1",
    "us-west2",
    "us-central1",
    "us-east1",
    "us-east4",
    "northamerica-northeast1",
    "southamerica-east1",
    "europe-west1",
    "europe-west2",
    "europe-west4",
    "asia-south1",
    "asia-southeast1",
    "asia-east1",
    "asia-northeast1",
    "asia-northeast3",
    "australia-southeast1",
}


def test_it_is_consistent() -> None:
    assert list(inconsistencies(CATALOGUE)) == []
    assert not CATALOGUE.own


def test_the_table_of_counts_is_that_of_the_documents() -> None:
    known = {K80, P4, P100, T4, V100, A100}
    taken = {
        name: dict(machine.accelerators)
        for name, machine in CATALOGUE.machine_types.items()
        if known & machine.accelerators.keys()
    }
    assert taken == TABLE


@pytest.mark.parametrize("name", ["n1-standard-1", "n1-standard-2", "n1-highcpu-8", "e2-highmem-2"])
def test_types_that_the_table_leaves_out_take_no_gpu(name: str) -> None:
    assert CATALOGUE.machine_types[name].accelerators == {}


def allowed(machine: MachineType, accelerator: Accelerator) -> tuple[int, ...]:
    return tuple(
        limit.count
        for limit in accelerator.limits
        if machine.vcpus <= (limit.vcpus or machine.vcpus)
        and machine.memory_gb <= (limit.memory_gb or machine.memory_gb)
    )


@pytest.mark.parametrize("name", [name for name in TABLE if name.startswith("n1-")])
def test_the_limits_explain_the_table(name: str) -> None:
    """What the table leaves out is just what too few devices can't serve."""
    machine = CATALOGUE.machine_types[name]
    accelerators = (CATALOGUE.accelerators[each] for each in (K80, P4, P100, T4, V100))
    explained = {each.name: allowed(machine, each) for each in accelerators}
    assert {each: counts for each, counts in explained.items() if counts} == TABLE[name]


@pytest.mark.parametrize(
    ("name", "vcpus", "memory_gb"),
    [
        ("n1-standard-1", 1, 3.75),
        ("n1-standard-96", 96, 360),
        ("n1-highmem-2", 2, 13),
        ("n1-highmem-96", 96, 624),
        ("n1-highcpu-2", 2, 1.8),
        ("n1-highcpu-96", 96, 86.4),
        ("a2-highgpu-1g", 12, 85),
        ("a2-highgpu-8g", 96, 680),
        ("a2-megagpu-16g", 96, 1360),
        ("g2-standard-4", 4, 16),
        ("complex_model_l", 32, 28.8),
    ],
)
def test_sizes(name: str, vcpus: int, memory_gb: float) -> None:
    machine = CATALOGUE.machine_types[name]
    assert (machine.vcpus, machine.memory_gb) == (vcpus, memory_gb)


@pytest.mark.parametrize(
    ("name", "accelerator", "count"),
    [
        *[(f"g2-standard-{size}", "NVIDIA_L4", 1) for size in (4, 8, 12, 16, 32)],
        ("g2-standard-24", "NVIDIA_L4", 2),
        ("g2-standard-48", "NVIDIA_L4", 4),
        ("g2-standard-96", "NVIDIA_L4", 8),
        *[(f"a2-ultragpu-{n}g", "NVIDIA_A100_80GB", n) for n in (1, 2, 4, 8)],
        *[(f"a3-highgpu-{n}g", "NVIDIA_H100_80GB", n) for n in (1, 2, 4, 8)],
        ("a3-megagpu-8g", "NVIDIA_H100_MEGA_80GB", 8),
        ("a3-ultragpu-8g", "NVIDIA_H200_141GB", 8),
    ],
)
def test_newer_types_come_in_one_shape(name: str, accelerator: str, count: int) -> None:
    assert CATALOGUE.machine_types[name].accelerators == {accelerator: (count,)}


@pytest.mark.parametrize(
    ("name", "like", "included"),
    [
        ("standard", "n1-standard-4", None),
        ("large_model", "n1-highmem-8", None),
        ("complex_model_s", "n1-highcpu-8", None),
        ("complex_model_m", "n1-highcpu-16", None),
        ("complex_model_l", "n1-highcpu-32", None),
        ("standard_gpu", "n1-standard-8", (K80, 1)),
        ("complex_model_m_gpu", "n1-standard-16", (K80, 4)),
        ("complex_model_l_gpu", "n1-standard-32", (K80, 8)),
        ("standard_p100", "n1-standard-8", (P100, 1)),
        ("complex_model_m_p100", "n1-standard-16", (P100, 4)),
        ("standard_v100", "n1-standard-8", (V100, 1)),
        ("large_model_v100", "n1-highmem-8", (V100, 1)),
        ("complex_model_m_v100", "n1-standard-16", (V100, 4)),
        ("complex_model_l_v100", "n1-standard-32", (V100, 8)),
    ],
)
def test_legacy_types(name: str, like: str, included: tuple[str, int] | None) -> None:
    machine = CATALOGUE.machine_types[name]
    model = CATALOGUE.machine_types[like]
    assert machine.family is Family.LEGACY
    assert (machine.like, machine.included) == (like, included)
    assert (machine.vcpus, machine.memory_gb) == (model.vcpus, model.memory_gb)


def test_a_tpu_may_be_chosen_or_is_of_the_second_version() -> None:
    tpu = CATALOGUE.machine_types["cloud_tpu"]
    assert (tpu.family, tpu.included) == (Family.TPU, ("TPU_V2", 8))
    assert {"TPU_V2", "TPU_V3"} <= tpu.accelerators.keys()


def test_scale_tiers() -> None:
    tiers = CATALOGUE.scale_tiers
    assert set(tiers) == set(ScaleTier.__members__) - {"CUSTOM"}
    assert tiers["BASIC"].master == MachineSpec("n1-standard-4")
    assert tiers["BASIC_GPU"].master == MachineSpec("n1-standard-8", K80, 1)
    assert tiers["BASIC_TPU"].master == MachineSpec("n1-standard-4", "TPU_V2", 8)
    standard, premium = tiers["STANDARD_1"], tiers["PREMIUM_1"]
    assert standard.master == standard.worker == MachineSpec("n1-highcpu-8")
    assert standard.parameter_server == MachineSpec("n1-standard-4")
    assert (standard.worker_count, standard.parameter_server_count) == (4, 3)
    assert premium.master == premium.worker == MachineSpec("n1-highcpu-16")
    assert premium.parameter_server == MachineSpec("n1-highmem-8")
    assert (premium.worker_count, premium.parameter_server_count) == (19, 11)


@pytest.mark.parametrize("enum", [TrainingAccelerator, VertexAccelerator])
def test_every_accelerator_that_a_job_can_name_is_described(
    enum: type[TrainingAccelerator | VertexAccelerator],
) -> None:
    named = set(enum.__members__) - {"ACCELERATOR_TYPE_UNSPECIFIED"}
    assert named <= CATALOGUE.accelerators.keys()
    for name in named:
        kind = AcceleratorKind.TPU if name.startswith("TPU_") else AcceleratorKind.GPU
        assert CATALOGUE.accelerators[name].kind is kind


def test_every_accelerator_goes_with_a_machine_and_is_in_a_zone() -> None:
    machines = CATALOGUE.machine_types.values()
    taken = {name for machine in machines for name in machine.accelerators}
    taken |= {machine.included[0] for machine in machines if machine.included}
    placed = {name for region in CATALOGUE.regions.values() for name in region.accelerators}
    assert taken == CATALOGUE.accelerators.keys()
    assert placed == taken - {"TPU_V4_POD"}, "whose region no client knows"


def test_the_regions_with_gpus_of_the_documents() -> None:
    known = {K80, P4, P100, T4, V100, A100}
    having = {name for name, region in CATALOGUE.regions.items() if known & region.accelerators}
    assert having == GPU_REGIONS
    assert any(not known <= CATALOGUE.regions[name].accelerators for name in having)


def test_no_zone_of_us_central1_has_t4_k80_and_p100_together() -> None:
    region = CATALOGUE.regions["us-central1"]
    assert {T4, K80, P100} <= region.accelerators
    assert not any({T4, K80, P100} <= zone.accelerators for zone in region.zones)


def test_regions_have_zones_of_their_own() -> None:
    assert list(CATALOGUE.regions) == sorted(CATALOGUE.regions)
    for region in CATALOGUE.regions.values():
        names = [zone.name for zone in region.zones]
        assert names == sorted(set(names))
        assert all(re.fullmatch(rf"{region.name}-[a-z]", name) for name in names)


def test_bandwidth_of_the_machines_that_the_reduction_server_is_sized_by() -> None:
    known = {m.name: m.egress_gbps for m in CATALOGUE.machine_types.values() if m.egress_gbps}
    fast = {name: gbps for name, gbps in known.items() if gbps != 32}
    assert fast == {"n1-highmem-96": 100, "a2-megagpu-16g": 100}
    assert known["n1-highcpu-16"] == known["n2-highcpu-16"] == 32
    others = (CATALOGUE.machine_types[name] for name in known.keys() - fast.keys())
    assert all(m.name.startswith(("n1-", "n2-")) and m.vcpus >= 16 for m in others)
