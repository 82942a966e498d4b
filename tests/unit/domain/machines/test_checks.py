"""What machines a job may ask for: each rule with what it refuses, and what it lets pass."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.catalogue import (
    Accelerator,
    AcceleratorKind,
    Catalogue,
    DeviceLimit,
    Family,
    MachineType,
    Region,
    Zone,
)
from footplate.domain.jobs import MachineSpec
from footplate.domain.machines import (
    MachineRequest,
    accelerators_of,
    check_machine,
    check_machines,
    zones_for,
)
from footplate.domain.runtimes import Runtimes

K80, P100, T4, V100 = (f"NVIDIA_TESLA_{name}" for name in ("K80", "P100", "T4", "V100"))
GPU, CE, LEGACY = AcceleratorKind.GPU, Family.COMPUTE_ENGINE, Family.LEGACY
SMALL = {K80: (1, 2, 4, 8), P100: (1, 2, 4), T4: (1, 2, 4), V100: (1, 2, 4, 8)}

MACHINES = (
    MachineType("n1-standard-4", CE, 4, 15.0, SMALL),
    MachineType("n1-standard-32", CE, 32, 120.0, {T4: (2, 4), V100: (4, 8)}),
    MachineType("n1-standard-64", CE, 64, 240.0, {T4: (4,), V100: (8,)}),
    MachineType("n1-highcpu-8", CE, 8, 7.2),
    MachineType("n1-highcpu-16", CE, 16, 14.4, {T4: (1, 2, 4), P100: (1, 2, 4), V100: (2, 4, 8)}),
    MachineType("standard", LEGACY, 4, 15.0, like="n1-standard-4"),
    MachineType("standard_gpu", LEGACY, 8, 30.0, included=(K80, 1), like="n1-standard-8"),
    MachineType(
        "cloud_tpu", Family.TPU, 96, 335.0, {"TPU_V3": (8,), "TPU_V2": (8,)}, ("TPU_V2", 8)
    ),
)
ACCELERATORS = (
    Accelerator(K80, GPU, 12),
    Accelerator(P100, GPU, 16, (DeviceLimit(1, 16, 104), DeviceLimit(4, 64, 208))),
    Accelerator(T4, GPU, 16, (DeviceLimit(1, 24, 156), DeviceLimit(2, 48, 312))),
    Accelerator(V100, GPU, 16, (DeviceLimit(1, 12, 76), DeviceLimit(2, 24, 152))),
    Accelerator("NVIDIA_TESLA_A100", GPU, 40),
    Accelerator("TPU_V2", AcceleratorKind.TPU, 8),
    Accelerator("TPU_V3", AcceleratorKind.TPU, 16),
)
REGIONS = (
    Region(
        "us-central1",
        (
            Zone("us-central1-a", frozenset({K80, T4, V100, "TPU_V3"})),
            Zone("us-central1-c", frozenset({K80, P100, "TPU_V2"})),
            Zone("us-central1-f", frozenset({P100, T4, V100})),
        ),
    ),
    Region("asia-east1", (Zone("asia-east1-a", frozenset({K80, P100})), Zone("asia-east1-b"))),
    Region("us-east4", (Zone("us-east4-a", frozenset({T4})),)),
    Region("africa-south1"),
)
CATALOGUE = Catalogue(
    machine_types={kind.name: kind for kind in MACHINES},
    accelerators={accelerator.name: accelerator for accelerator in ACCELERATORS},
    regions={region.name: region for region in REGIONS},
    scale_tiers={},
    runtimes=Runtimes((), "", {}),
)

Spec = tuple[str] | tuple[str, str | None] | tuple[str, str | None, int]


def request(pool: str, spec: Spec) -> MachineRequest:
    return MachineRequest(MachineSpec(*spec), f"{pool}.type", f"{pool}.gpu", f"{pool}.count")


def found(*specs: Spec, region: str = "us-central1") -> dict[str, str]:
    """What is wrong with the machines of pools a, b, c... by field."""
    requests = [request(pool, spec) for pool, spec in zip("abc", specs, strict=False)]
    violations = list(check_machines(requests, region, "region", CATALOGUE))
    assert len({violation.field for violation in violations}) == len(violations)
    return {violation.field: violation.description for violation in violations}


@pytest.mark.parametrize(
    "specs",
    [
        [("n1-standard-4",)],
        [("n1-standard-4", T4, 4), ("n1-highcpu-16", T4, 1)],
        [("n1-standard-32", V100, 4)],
        [("n1-standard-64", V100, 8)],
        [("standard_gpu",), ("standard",)],
        [("standard",), ("cloud_tpu",)],
        [("n1-standard-4",), ("cloud_tpu", "TPU_V3", 8)],
        [("cloud_tpu",), ("n1-highcpu-8",)],
        [("cloud_tpu", "TPU_V2", 8), ("standard",)],
        [("n1-standard-4", K80, 1), ("n1-standard-4", P100, 1)],
    ],
)
def test_what_the_catalogue_allows(specs: list[Spec]) -> None:
    assert found(*specs) == {}


def test_an_unknown_machine_type_comes_with_the_nearest_ones() -> None:
    assert found(("n1-standrd-4",)) == {
        "a.type": "'n1-standrd-4' given, which is not a machine type of the catalogue; "
        "did you mean n1-standard-4 or n1-standard-64 or n1-standard-32?"
    }
    assert found(("quantum",)) == {
        "a.type": "'quantum' given, which is not a machine type of the catalogue; "
        "there are 8 machine types, such as cloud_tpu, n1-highcpu-16, n1-highcpu-8"
    }
    assert len(found(("x" * 10_000,))["a.type"]) < 400


def test_legacy_and_compute_engine_types_dont_mix() -> None:
    assert found(("n1-standard-4",), ("standard_gpu",), ("cloud_tpu",)) == {
        "b.type": "'standard_gpu' given, a legacy machine type, but 'n1-standard-4' in a.type is a "
        "Compute Engine type; allowed: one kind of machine type for all replicas of a job; "
        "standard_gpu is like n1-standard-8 with 1 NVIDIA_TESLA_K80"
    }
    mixed = found(("cloud_tpu",), ("standard",), ("n1-standard-4",))
    assert list(mixed) == ["c.type"]
    assert "but 'standard' in b.type is a legacy machine type" in mixed["c.type"]
    assert mixed["c.type"].endswith("standard is like n1-standard-4")


def test_nothing_can_be_attached_to_a_legacy_type() -> None:
    for spec, field in (
        (("standard", T4, 1), "a.gpu"),
        (("standard", T4, 0), "a.gpu"),
        (("standard", None, 1), "a.count"),
    ):
        assert found(spec) == {
            field: "standard is a legacy machine type, which takes no accelerators "
            "(it comes with none); allowed: a Compute Engine machine type that takes them, such "
            "as n1-standard-4"
        }
    assert (
        "1 NVIDIA_TESLA_K80, which this type always has" in found(("standard_gpu", K80, 1))["a.gpu"]
    )


def test_a_type_and_a_count_belong_together() -> None:
    assert found(("n1-highcpu-16", T4)) == {
        "a.count": "required beside NVIDIA_TESLA_T4: valid counts on n1-highcpu-16 are 1, 2, 4"
    }
    assert found(("n1-highcpu-16", None, 2)) == {
        "a.gpu": "required: the accelerator type, because the count is 2; n1-highcpu-16 takes "
        "NVIDIA_TESLA_T4 (1, 2, 4), NVIDIA_TESLA_P100 (1, 2, 4), NVIDIA_TESLA_V100 (2, 4, 8)"
    }
    assert found(("quantum", T4))["a.count"] == "required: how many NVIDIA_TESLA_T4, at least 1"
    assert found(("quantum", T4, -1))["a.count"].startswith("-1 given: how many")
    assert "a.gpu" in found(("quantum", None, 1))


def test_an_accelerator_that_the_type_doesnt_take() -> None:
    assert found(("n1-highcpu-8", T4, 1)) == {
        "a.gpu": "NVIDIA_TESLA_T4 can't be attached to n1-highcpu-8; n1-highcpu-8 takes no "
        "accelerators; NVIDIA_TESLA_T4 goes with n1-standard-4, n1-highcpu-16, n1-standard-32, "
        "n1-standard-64"
    }
    assert found(("n1-standard-64", P100, 4)) == {
        "a.gpu": "NVIDIA_TESLA_P100 can't be attached to n1-standard-64, since n1-standard-64 has "
        "64 vCPU and 240 GB and 4 NVIDIA_TESLA_P100 serve at most 64 vCPU and 208 GB; "
        "n1-standard-64 takes NVIDIA_TESLA_T4 (4), NVIDIA_TESLA_V100 (8); NVIDIA_TESLA_P100 goes "
        "with n1-highcpu-16, n1-standard-4"
    }
    assert "can't be attached to cloud_tpu" in found(("cloud_tpu", T4, 1))["a.gpu"]
    unknown = found(("n1-standard-64", "NVIDIA_TESLA_Z9", 1))["a.gpu"]
    assert unknown.startswith(
        "'NVIDIA_TESLA_Z9' given, which is not an accelerator of the catalogue;"
    )


def test_a_count_that_the_type_doesnt_take() -> None:
    assert found(("n1-highcpu-16", T4, 3)) == {
        "a.count": "NVIDIA_TESLA_T4 x3 on n1-highcpu-16: valid counts are 1, 2, 4"
    }
    assert found(("n1-standard-4", T4, -1)) == {
        "a.count": "NVIDIA_TESLA_T4 x-1 on n1-standard-4: valid counts are 1, 2, 4"
    }
    assert found(("cloud_tpu", "TPU_V3", 4)) == {
        "a.count": "TPU_V3 x4 on cloud_tpu: the valid count is 8"
    }


def test_a_large_machine_needs_more_of_them() -> None:
    assert found(("n1-standard-32", V100, 1)) == {
        "a.count": "NVIDIA_TESLA_V100 x1 on n1-standard-32: valid counts are 4, 8; "
        "n1-standard-32 has 32 vCPU and 120 GB, 1 NVIDIA_TESLA_V100 serves at most "
        "12 vCPU and 76 GB, so this "
        "type needs at least 4"
    }
    for count in (2, 3):
        said = found(("n1-standard-32", V100, count))["a.count"]
        assert (
            "2 NVIDIA_TESLA_V100 serve at most 24 vCPU and 152 GB, so this type needs at least 4"
        ) in said
    assert "so it needs" not in found(("n1-standard-32", V100, 5))["a.count"]


def test_the_region_is_known() -> None:
    assert found(("n1-standard-4",), region="us-centrall") == {
        "region": "'us-centrall' given, which is not a region of the catalogue; "
        "did you mean us-central1?"
    }
    assert found(("n1-standard-4",), region="") == {
        "region": "required: the region of the job; there are 4 regions, such as "
        "africa-south1, asia-east1, us-central1"
    }


def test_the_region_has_the_accelerators() -> None:
    assert found(("n1-standard-4", P100, 1), region="us-east4") == {
        "a.gpu": "NVIDIA_TESLA_P100 given, which us-east4 doesn't have; "
        "regions that have it: us-central1, asia-east1"
    }
    assert found(("standard_gpu",), ("standard",), region="us-east4") == {
        "a.type": "standard_gpu brings NVIDIA_TESLA_K80, which us-east4 doesn't have; "
        "regions that have it: us-central1, asia-east1"
    }
    nowhere = found(("n1-standard-4", "NVIDIA_TESLA_A100", 1), region="africa-south1")
    assert "can't be attached to n1-standard-4" in nowhere["a.gpu"]  # that comes first


def test_one_zone_has_them_all() -> None:
    pools: list[Spec] = [("n1-standard-4", gpu, 1) for gpu in (T4, P100, K80)]
    assert found(*pools) == {
        "region": "'us-central1' given; all replicas of a job run in one zone, but no zone of "
        "this region has NVIDIA_TESLA_T4, NVIDIA_TESLA_P100 and NVIDIA_TESLA_K80 together: "
        "us-central1-a has NVIDIA_TESLA_T4 and NVIDIA_TESLA_K80; us-central1-c has "
        "NVIDIA_TESLA_P100 and NVIDIA_TESLA_K80; us-central1-f has NVIDIA_TESLA_T4 and "
        "NVIDIA_TESLA_P100; no other region has such a zone either: ask for fewer kinds of "
        "accelerators"
    }
    apart = found(("standard_gpu",), ("cloud_tpu", "TPU_V2", 8), region="us-central1")
    assert apart == {}
    elsewhere: list[Spec] = [("cloud_tpu", "TPU_V3", 8), ("n1-standard-4", P100, 1)]
    assert "region" in found(*elsewhere)


def test_a_region_with_such_a_zone_is_offered() -> None:
    regions = {
        "split": Region("split", (Zone("split-a", frozenset({T4})), Zone("b", frozenset({P100})))),
        "whole": Region("whole", (Zone("whole-a", frozenset({T4, P100})),)),
    }
    catalogue = Catalogue(CATALOGUE.machine_types, CATALOGUE.accelerators, regions, {}, RUNTIMES)
    requests = [request("a", ("n1-standard-4", T4, 1)), request("b", ("n1-standard-4", P100, 1))]
    (violation,) = check_machines(requests, "split", "location", catalogue)
    assert violation.field == "location"
    assert violation.description.endswith("allowed: a region with such a zone, whole")


RUNTIMES = CATALOGUE.runtimes

SPECS = st.builds(
    MachineSpec,
    st.sampled_from([*CATALOGUE.machine_types, "", "n9-standard-4"]),
    st.sampled_from([None, *CATALOGUE.accelerators, "NVIDIA_NOTHING"]),
    st.integers(-2, 9),
)


@given(st.lists(SPECS, max_size=4), st.sampled_from([*CATALOGUE.regions, "", "nowhere"]))
def test_what_passes_has_a_zone_and_valid_counts(machines: list[MachineSpec], region: str) -> None:
    requests = [
        MachineRequest(machine, f"{i}.type", f"{i}.gpu", f"{i}.count")
        for i, machine in enumerate(machines)
    ]
    if list(check_machines(requests, region, "region", CATALOGUE)):
        return
    known = CATALOGUE.regions[region]
    asked = [accelerators_of(machine, CATALOGUE)[0] for machine in machines]
    assert len(zones_for(machines, region, CATALOGUE)) > 0 or not (any(asked) or known.zones)
    for machine in machines:
        assert machine.machine_type in ("", *CATALOGUE.machine_types)
        if machine.accelerator_type and machine.machine_type:
            kind = CATALOGUE.machine_types[machine.machine_type]
            assert machine.accelerator_count in kind.accelerators[machine.accelerator_type]


@given(SPECS, SPECS)
def test_machines_are_checked_one_by_one_before_they_are_checked_together(
    one: MachineSpec, other: MachineSpec
) -> None:
    requests = [
        MachineRequest(machine, f"{i}.type", f"{i}.gpu", f"{i}.count")
        for i, machine in enumerate((one, other))
    ]
    found = check_machines(requests, "us-central1", "region", CATALOGUE)
    together = {violation.field: violation.description for violation in found}
    for request in requests:
        for violation in check_machine(request, CATALOGUE):
            assert together[violation.field].startswith(violation.description)
