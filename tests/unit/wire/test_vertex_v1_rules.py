"""What custom jobs of aiplatform v1 are refused for, and what next to it is fine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.submission import Location
from footplate.wire.json_text import JsonObject
from tests.unit.wire.vertex_v1_bodies import (
    IMAGE,
    MACHINE,
    PACKAGE,
    body,
    container,
    machine,
    pool,
    submit,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

POOL = "jobSpec.workerPoolSpecs[0]"
KEY = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"
CONTEXT = "projects/1/locations/us-central1/metadataStores/default/contexts/e"


def violations(document: JsonObject, region: str = "us-central1") -> dict[str, str]:
    found = submit(document, Location("demo", region)).violations
    assert len({violation.field for violation in found}) == len(found)
    return {violation.field: violation.description for violation in found}


def package(**changes: JsonValue) -> JsonObject:
    return pool(pythonPackageSpec={**PACKAGE, **changes})


def reserved(**affinity: JsonValue) -> JsonObject:
    return body(machine(reservationAffinity=affinity))


def nfs(**changes: JsonValue) -> JsonObject:
    mount: JsonObject = {"server": "10.0.0.1", "path": "/share", "mountPoint": "data"}
    return body(pool(nfsMounts=[{**mount, **changes}]))


def lustre(**changes: JsonValue) -> JsonObject:
    mount: JsonObject = {
        "instanceIp": "10.0.0.2",
        "volumeHandle": "demo/us-central1-a/volume",
        "filesystem": "scratch",
        "mountPoint": "fast",
    }
    return body(pool(lustreMounts=[{**mount, **changes}]))


REFUSED: list[tuple[JsonObject, str, str]] = [
    # the job
    ({**body(), "displayName": ""}, "displayName", "required: 1 to 128 characters"),
    ({**body(), "displayName": "x" * 129}, "displayName", "129 characters given; .* at most 128"),
    ({**body(), "displayName": 3}, "displayName", '3 given; allowed: a string, such as "3"'),
    ({**body(), "labels": {"x": "Y"}}, "labels.x", '"Y" given; allowed: .* lowercase'),
    (
        {**body(), "encryptionSpec": {"kmsKeyName": "k"}},
        "encryptionSpec.kmsKeyName",
        '"k" given; allowed: projects/PROJECT/locations/LOCATION/keyRings/KEY_RING/cryptoKeys/KEY',
    ),
    # pools
    (body(*[pool()] * 5), "jobSpec.workerPoolSpecs", "5 given; allowed: at most 4"),
    (body(pool(replicaCount=2)), f"{POOL}.replicaCount", "2 given; .* exactly 1"),
    (body(pool(replicaCount=0)), f"{POOL}.replicaCount", "0 given; .* exactly 1"),
    (
        body(pool(), pool(replicaCount=None)),
        "jobSpec.workerPoolSpecs[1].replicaCount",
        "nothing given; allowed: at least 1, or an empty object {}",
    ),
    (
        body(pool(), pool(replicaCount=10**9)),
        "jobSpec.workerPoolSpecs[1].replicaCount",
        "1000000000 given; allowed: 1 to 10000",
    ),
    (body(pool(), pool(replicaCount=-1)), "jobSpec.workerPoolSpecs[1].replicaCount", "-1 given"),
    (
        body(workerPoolSpecs=[pool(), 7]),
        "jobSpec.workerPoolSpecs[1]",
        "7 given; allowed: an object",
    ),
    # machines
    (body(pool(machineSpec=None)), f"{POOL}.machineSpec.machineType", "required"),
    (
        body(machine(machineType="n1-standrad-4")),
        f"{POOL}.machineSpec.machineType",
        "'n1-standrad-4' given, .*n1-standard-4",
    ),
    (
        body(machine(machineType="standard")),
        f"{POOL}.machineSpec.machineType",
        '"standard" given, a machine type of AI Platform Training .*; use n1-standard-4 instead',
    ),
    (
        body(machine(machineType="complex_model_m_gpu")),
        f"{POOL}.machineSpec.machineType",
        "n1-standard-16 with acceleratorType NVIDIA_TESLA_K80 and acceleratorCount 4",
    ),
    (
        body(machine(machineType="cloud_tpu")),
        f"{POOL}.machineSpec.machineType",
        "use cloud-tpu instead",
    ),
    (
        body(machine(acceleratorType="T4")),
        f"{POOL}.machineSpec.acceleratorType",
        '"T4" given; allowed: ACCELERATOR_TYPE_UNSPECIFIED, .*NVIDIA_TESLA_T4',
    ),
    (body(machine(acceleratorType=99)), f"{POOL}.machineSpec.acceleratorType", "99 given; allowed"),
    (
        body(machine(acceleratorType="NVIDIA_TESLA_T4")),
        f"{POOL}.machineSpec.acceleratorCount",
        "0 given|required",
    ),
    (body(machine(acceleratorCount=1)), f"{POOL}.machineSpec.acceleratorType", "required|given"),
    (
        body(machine(acceleratorType="NVIDIA_TESLA_T4", acceleratorCount=3)),
        f"{POOL}.machineSpec.acceleratorCount",
        "NVIDIA_TESLA_T4 x3 on n1-standard-4: valid counts are 1, 2, 4",
    ),
    (
        body(machine(acceleratorType="NVIDIA_TESLA_A100", acceleratorCount=1)),
        f"{POOL}.machineSpec.acceleratorType",
        "NVIDIA_TESLA_A100 can't be attached to n1-standard-4",
    ),
    (
        body(machine(machineType="ct5lp-hightpu-4t", tpuTopology="big")),
        f"{POOL}.machineSpec.tpuTopology",
        '"big" given; allowed: .* such as 2x2x1',
    ),
    (
        body(machine(tpuTopology="2x2")),
        f"{POOL}.machineSpec.tpuTopology",
        '"2x2" given with n1-standard-4; allowed: only with a TPU machine type',
    ),
    (
        reserved(),
        f"{POOL}.machineSpec.reservationAffinity.reservationAffinityType",
        "required: NO_RESERVATION, ANY_RESERVATION, SPECIFIC_RESERVATION",
    ),
    (
        reserved(reservationAffinityType="SPECIFIC_RESERVATION", values=["r"]),
        f"{POOL}.machineSpec.reservationAffinity.key",
        "required with SPECIFIC_RESERVATION",
    ),
    (
        reserved(reservationAffinityType=3, key="k"),
        f"{POOL}.machineSpec.reservationAffinity.values",
        "required with SPECIFIC_RESERVATION",
    ),
    (
        reserved(reservationAffinityType=3, key="k", values=[""]),
        f"{POOL}.machineSpec.reservationAffinity.values[0]",
        '"" given; allowed: the name of a reservation',
    ),
    (
        body(machine(gpuPartitionSize="half")),
        f"{POOL}.machineSpec.gpuPartitionSize",
        '"half" given; allowed: a size such as 1g.10gb',
    ),
    (
        body(machine(gpuPartitionSize="1g.5gb")),
        f"{POOL}.machineSpec.gpuPartitionSize",
        "for a machine without GPUs",
    ),
    # programs
    (body(pool(pythonPackageSpec=None)), POOL, "none given; allowed: one of containerSpec, python"),
    (body(pool(containerSpec={"imageUri": "i"})), POOL, "both given; allowed: one of"),
    (body(container(imageUri=None)), f"{POOL}.containerSpec.imageUri", "required: the URI"),
    (
        body(container(imageUri="a b")),
        f"{POOL}.containerSpec.imageUri",
        '"a b" given, .* a space; allowed',
    ),
    (body(container(command="sh")), f"{POOL}.containerSpec.command", '"sh" given; .* a list'),
    (body(container(args=["a", 1])), f"{POOL}.containerSpec.args[1]", "1 given; .* a string"),
    (
        body(package(executorImageUri="")),
        f"{POOL}.pythonPackageSpec.executorImageUri",
        "required: the URI of a prebuilt image",
    ),
    (body(package(packageUris=[])), f"{POOL}.pythonPackageSpec.packageUris", "required: the gs://"),
    (
        body(package(packageUris=["gs://b/p"] * 101)),
        f"{POOL}.pythonPackageSpec.packageUris",
        "101 given; allowed: at most 100",
    ),
    (
        body(package(packageUris=["gs://b/p", "p.whl"])),
        f"{POOL}.pythonPackageSpec.packageUris[1]",
        '"p.whl" given; allowed: gs://BUCKET/PATH',
    ),
    (body(package(pythonModule="")), f"{POOL}.pythonPackageSpec.pythonModule", "required: the mod"),
    (
        body(package(pythonModule="trainer/task.py")),
        f"{POOL}.pythonPackageSpec.pythonModule",
        '"trainer/task.py" given; allowed: a dotted module name',
    ),
    (
        body(package(env=[{"name": "A"}] * 101)),
        f"{POOL}.pythonPackageSpec.env",
        "101 given; allowed: at most 100",
    ),
    (
        body(container(env=[{"name": "A"}, {"name": "1A", "value": "x"}])),
        f"{POOL}.containerSpec.env[1].name",
        '"1A" given; allowed: letters, digits and underscores, without a digit at the start',
    ),
    (body(container(command=["ä" * 65_536])), f"{POOL}.containerSpec.command[0]", "131,072 bytes"),
    (body(container(args=["x" * 131_072])), f"{POOL}.containerSpec.args[0]", "131,072 bytes given"),
    (body(package(args=["x" * 200_000])), f"{POOL}.pythonPackageSpec.args[0]", "200,000 bytes giv"),
    (
        body(package(env=[{"name": "AB", "value": "x" * 131_069}])),
        f"{POOL}.pythonPackageSpec.env[0].value",
        "131,072 bytes given; allowed: at most 131,071, the limit of Linux. Put",
    ),
    (body(container(env=[{"value": "x"}])), f"{POOL}.containerSpec.env[0].name", "required: lett"),
    # disks and shares
    (
        body(pool(diskSpec={"bootDiskType": "tape"})),
        f"{POOL}.diskSpec.bootDiskType",
        '"tape" given; allowed: pd-ssd, pd-standard, hyperdisk-balanced',
    ),
    (body(pool(diskSpec={"bootDiskSizeGb": -1})), f"{POOL}.diskSpec.bootDiskSizeGb", "-1 given"),
    (
        body(pool(diskSpec={"bootDiskSizeGb": 70_000})),
        f"{POOL}.diskSpec.bootDiskSizeGb",
        "70000 given; allowed: 10 to 65536",
    ),
    (nfs(server=""), f"{POOL}.nfsMounts[0].server", "required"),
    (nfs(path=None), f"{POOL}.nfsMounts[0].path", "required"),
    (nfs(path="share"), f"{POOL}.nfsMounts[0].path", '"share" given; .* starts with /'),
    (nfs(mountPoint=""), f"{POOL}.nfsMounts[0].mountPoint", "required: a folder below /mnt/nfs/"),
    (nfs(mountPoint="../etc"), f"{POOL}.nfsMounts[0].mountPoint", '"../etc" given; .* /mnt/nfs/'),
    (nfs(mountPoint="/data"), f"{POOL}.nfsMounts[0].mountPoint", '"/data" given; .* /mnt/nfs/'),
    (lustre(instanceIp=""), f"{POOL}.lustreMounts[0].instanceIp", "required"),
    (lustre(instanceIp="there"), f"{POOL}.lustreMounts[0].instanceIp", '"there" given; .* address'),
    (lustre(volumeHandle=""), f"{POOL}.lustreMounts[0].volumeHandle", "required"),
    (lustre(filesystem=""), f"{POOL}.lustreMounts[0].filesystem", "required"),
    (lustre(mountPoint="a/../b"), f"{POOL}.lustreMounts[0].mountPoint", "below /mnt/lustre/"),
    # scheduling
    (body(scheduling={"timeout": "0s"}), "jobSpec.scheduling.timeout", '"0s" given; .* more than'),
    (body(scheduling={"timeout": "-1s"}), "jobSpec.scheduling.timeout", '"-1s" given'),
    (
        body(scheduling={"timeout": "200000000000s"}),
        "jobSpec.scheduling.timeout",
        "given; allowed: more than 0s to .*100 years",
    ),
    (body(scheduling={"timeout": 60}), "jobSpec.scheduling.timeout", "60 given; .* as a string"),
    (body(scheduling={"timeout": "2h"}), "jobSpec.scheduling.timeout", '"2h" given; .* "3600s"'),
    (
        body(scheduling={"maxWaitDuration": "-1s"}),
        "jobSpec.scheduling.maxWaitDuration",
        '"-1s" given',
    ),
    (
        body(scheduling={"strategy": 5}),
        "jobSpec.scheduling.strategy",
        "5 given; allowed: STRATEGY_UNSPECIFIED, .*FLEX_START",
    ),
    (body(scheduling={"strategy": "CHEAP"}), "jobSpec.scheduling.strategy", '"CHEAP" given'),
    (
        body(scheduling={"disableRetries": "yes"}),
        "jobSpec.scheduling.disableRetries",
        '"yes" given; allowed: true or false',
    ),
    # what lies elsewhere
    (
        body(baseOutputDirectory={}),
        "jobSpec.baseOutputDirectory.outputUriPrefix",
        "required: gs://BUCKET/PATH",
    ),
    (
        body(baseOutputDirectory={"outputUriPrefix": "http://x"}),
        "jobSpec.baseOutputDirectory.outputUriPrefix",
        '"http://x" given; allowed: gs://BUCKET/PATH',
    ),
    (body(serviceAccount="me"), "jobSpec.serviceAccount", '"me" given; .* e-mail address'),
    (
        body(network="default"),
        "jobSpec.network",
        '"default" given; allowed: projects/PROJECT/global/networks/NETWORK',
    ),
    (body(tensorboard="t"), "jobSpec.tensorboard", '"t" given; .*/tensorboards/TENSORBOARD'),
    (body(reservedIpRanges=["a", ""]), "jobSpec.reservedIpRanges[1]", '"" given; allowed'),
    (body(reservedIpRanges=["10.0.0.0/8"]), "jobSpec.reservedIpRanges[0]", "given; .* lowercase"),
    (body(persistentResourceId="X"), "jobSpec.persistentResourceId", '"X" given; .* lowercase'),
    (body(experiment="e"), "jobSpec.experiment", '"e" given; .*/metadataStores/STORE/contexts/'),
    (body(experimentRun="e"), "jobSpec.experimentRun", '"e" given; .*/metadataStores/'),
    (body(protectedArtifactLocationId="?"), "jobSpec.protectedArtifactLocationId", '"\\?" given'),
    (body(models=["m"]), "jobSpec.models[0]", '"m" given; .*/models/MODEL'),
    (body(pscInterfaceConfig=[]), "jobSpec.pscInterfaceConfig", "given; allowed: an object"),
]


@pytest.mark.parametrize(("document", "field", "said"), REFUSED)
def test_a_rule_names_the_field_the_value_and_what_is_allowed(
    document: JsonObject, field: str, said: str
) -> None:
    found = violations(document)
    assert list(found) == [field]
    assert re.search(said, found[field]), found[field]


ACCEPTED: list[JsonObject] = [
    body(package(args=["x" * 131_071], env=[{"name": "AB", "value": "x" * 131_068}])),
    {**body(), "displayName": "x" * 128},
    {**body(), "displayName": "Ü n\u4f60"},
    {**body(), "encryptionSpec": {"kmsKeyName": KEY}},
    {**body(), "encryptionSpec": {}},  # ZenML's, which names no key
    {**body(), "encryptionSpec": {"kmsKeyName": ""}},
    body(pool(replicaCount=None)),
    body(pool(), {}, pool(replicaCount=10_000), {}),
    body(pool(), {"replicaCount": "0"}),
    body(machine(acceleratorType=5, acceleratorCount=4.0)),
    body(machine(acceleratorType=0, acceleratorCount=0)),
    body(machine(machineType="a2-highgpu-2g", acceleratorType=8, acceleratorCount="2")),
    body(machine(machineType="a2-megagpu-16g", acceleratorType=8, acceleratorCount=16)),
    reserved(reservationAffinityType="ANY_RESERVATION"),
    reserved(reservationAffinityType=3, key="k", values=["projects/p/zones/z/reservations/r"]),
    body(
        machine(
            machineType="a2-highgpu-1g",
            acceleratorType="NVIDIA_TESLA_A100",
            acceleratorCount=1,
            gpuPartitionSize="1g.5gb",
        )
    ),
    body(container(command=["sh", "-c"], args=["", "--x"], env=[{"name": "_A1", "value": ""}])),
    body(package(env=[{"name": f"A{n}", "value": "x"} for n in range(100)])),
    body(package(packageUris=[f"gs://b/p{n}.whl" for n in range(100)])),
    body(pool(diskSpec={"bootDiskType": "pd-standard", "bootDiskSizeGb": "10"})),
    body(pool(diskSpec={"bootDiskType": "hyperdisk-balanced", "bootDiskSizeGb": 65_536})),
    body(pool(diskSpec={"bootDiskType": "", "bootDiskSizeGb": 0})),
    nfs(),
    nfs(mountPoint="/mnt/nfs/a/b..c/"),
    lustre(),
    lustre(mountPoint="/mnt/lustre/fast"),
    body(scheduling={"timeout": "0.5s", "maxWaitDuration": "0s", "strategy": "FLEX_START"}),
    body(scheduling={"strategy": 6, "maxWaitDuration": "3600s"}),
    body(scheduling={"timeout": "3155760000s", "disableRetries": True}),
    body(baseOutputDirectory={"outputUriPrefix": "gs://b"}),
    body(baseOutputDirectory={"outputUriPrefix": "/data/out"}),
    body(
        serviceAccount="me@demo.iam.gserviceaccount.com",
        network="projects/12345/global/networks/default",
        tensorboard="projects/1/locations/us-central1/tensorboards/7",
        reservedIpRanges=["vertex-ai-ip-range"],
        persistentResourceId="pool-1",
        experiment=CONTEXT,
        experimentRun=f"{CONTEXT}-run",
        models=["projects/p/locations/us-central1/models/m@2"],
        protectedArtifactLocationId="us-east1",
        pscInterfaceConfig={"networkAttachment": "a", "new": [{}]},
        enableWebAccess=True,
    ),
    body(serviceAccount="", network="", scheduling={}, reservedIpRanges=[]),
]


@pytest.mark.parametrize("document", ACCEPTED)
def test_what_is_allowed_next_to_it(document: JsonObject) -> None:
    assert violations(document) == {}


@pytest.mark.parametrize(
    ("mounts", "point"), [("nfsMounts", "/mnt/nfs/data"), ("lustreMounts", "/mnt/lustre/data")]
)
def test_one_share_at_a_place(mounts: str, point: str) -> None:
    mount: JsonObject = {
        "server": "s",
        "path": "/p",
        "instanceIp": "10.0.0.1",
        "volumeHandle": "v",
        "filesystem": "f",
    }
    given: JsonObject = {mounts: [{**mount, "mountPoint": p} for p in ("data", "other", point)]}
    assert list(violations(body(pool(**given)))) == [f"{POOL}.{mounts}[2].mountPoint"]


def test_a_region_that_there_isnt_is_the_parents_fault() -> None:
    found = violations(body(), "us-centrall")
    assert list(found) == ["parent"]
    assert "us-central1" in found["parent"]


def test_all_accelerators_of_a_job_are_in_one_zone() -> None:
    pools = [
        machine(acceleratorType=kind, acceleratorCount=1)
        for kind in ("NVIDIA_TESLA_T4", "NVIDIA_TESLA_K80", "NVIDIA_TESLA_P100")
    ]
    found = violations(body(*pools))
    assert list(found) == ["parent"]
    assert all(kind in found["parent"] for kind in ("T4", "K80", "P100"))
    assert violations(body(*pools[:2])) == {}


@pytest.mark.parametrize("kind", [None, "standard", "cloud_tpu"])
def test_accelerators_are_looked_at_without_a_machine_type(kind: str | None) -> None:
    spec = machine(machineType=kind, acceleratorType="NVIDIA_TESLA_T4")
    found = violations(body(spec), "africa-south1")
    assert list(found) == [
        f"{POOL}.machineSpec.machineType",
        f"{POOL}.machineSpec.acceleratorCount",
        f"{POOL}.machineSpec.acceleratorType",
    ]


@pytest.mark.parametrize(
    "program", [{"pythonPackageSpec": None}, {"containerSpec": {"imageUri": "gcr.io/p/i"}}]
)
def test_a_wrong_count_doesnt_hide_that_there_isnt_one_program(program: JsonObject) -> None:
    assert list(violations(body(pool(replicaCount="x", **program)))) == [
        f"{POOL}.replicaCount",
        POOL,
    ]


def test_a_program_that_isnt_understood_is_no_lack_of_one() -> None:
    assert list(violations(body(pool(pythonPackageSpec=5)))) == [f"{POOL}.pythonPackageSpec"]


def test_a_partition_of_an_accelerator_that_isnt_understood() -> None:
    spec = machine(acceleratorType="H100", gpuPartitionSize="1g.10gb")
    assert list(violations(body(spec))) == [f"{POOL}.machineSpec.acceleratorType"]


def test_no_machine_type_of_ml_v1_is_offered() -> None:
    (said,) = violations(body(machine(machineType="standart"))).values()
    assert "did you mean standard?" not in said


def test_an_accelerator_that_the_region_doesnt_have() -> None:
    found = violations(body(machine(acceleratorType=5, acceleratorCount=1)), "africa-south1")
    assert list(found) == [f"{POOL}.machineSpec.acceleratorType"]


def test_everything_is_said_at_once() -> None:
    document: JsonObject = {
        "displayName": 3,
        "labels": {"Team": "a"},
        "jobSpec": {
            "workerPoolSpecs": [
                {
                    "machineSpec": {**MACHINE, "acceleratorType": "T4", "acceleratorCount": 1},
                    "replicaCount": 2,
                    "pythonPackageSpec": {"executorImageUri": IMAGE},
                    "diskSpec": {"bootDiskType": "tape", "bootDiskSizeGb": "much"},
                },
                5,
                {"replicaCount": 1},
            ],
            "scheduling": {"strategy": 5, "timeout": 3600, "maxWaitDuration": "-1s"},
            "enableWebAccess": "yes",
            "network": "default",
        },
    }
    assert set(violations(document, "nowhere1")) == {
        "displayName",
        "labels",
        "parent",
        f"{POOL}.machineSpec.acceleratorType",
        f"{POOL}.replicaCount",
        f"{POOL}.pythonPackageSpec.packageUris",
        f"{POOL}.pythonPackageSpec.pythonModule",
        f"{POOL}.diskSpec.bootDiskType",
        f"{POOL}.diskSpec.bootDiskSizeGb",
        "jobSpec.workerPoolSpecs[1]",
        "jobSpec.workerPoolSpecs[2]",
        "jobSpec.workerPoolSpecs[2].machineSpec.machineType",
        "jobSpec.scheduling.strategy",
        "jobSpec.scheduling.timeout",
        "jobSpec.scheduling.maxWaitDuration",
        "jobSpec.enableWebAccess",
        "jobSpec.network",
    }


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ({}, ["displayName", "jobSpec"]),
        ({"displayName": "x", "jobSpec": {}}, ["jobSpec.workerPoolSpecs"]),
        ({"displayName": "x", "jobSpec": 5}, ["jobSpec"]),
        ({"jobSpec": {"workerPoolSpecs": pool()}}, ["jobSpec.workerPoolSpecs", "displayName"]),
        (
            {"displayName": 1, "jobSpec": {"workerPoolSpecs": [], "network": "n"}},
            ["displayName", "jobSpec.workerPoolSpecs", "jobSpec.network"],
        ),
    ],
)
def test_without_a_pool_there_is_nothing_to_make_a_job_of(
    document: JsonObject, fields: list[str]
) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        submit(document)
    assert [violation.field for violation in refusal.value.violations] == fields


def test_the_spec_of_a_job_that_breaks_rules_is_what_was_understood() -> None:
    broken = pool(replicaCount=10**12, machineSpec={"machineType": 7})
    spec = submit(body(pool(replicaCount=-3), broken, pool(replicaCount=2))).spec
    assert spec.replica_names() == (
        "workerpool0-0",
        "workerpool1-0",
        "workerpool2-0",
        "workerpool2-1",
    )
