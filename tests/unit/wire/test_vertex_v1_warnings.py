"""What is said of jobs that are accepted: what has no effect, and what Google's service may say."""

from __future__ import annotations

import pytest

from footplate.domain.submission import Location
from footplate.wire.json_text import JsonObject
from tests.unit.wire.vertex_v1_bodies import body, container, machine, pool, submit, tune, tuning

POOL = "jobSpec.workerPoolSpecs[0]"
NO_EFFECT = "is accepted and has no effect here"
NETWORK = "projects/12345/global/networks/default"
A100: JsonObject = {
    "machineType": "a2-highgpu-2g",
    "acceleratorType": "NVIDIA_TESLA_A100",
    "acceleratorCount": 2,
    "gpuPartitionSize": "1g.5gb",
}


def board(region: str) -> str:
    return f"projects/1/locations/{region}/tensorboards/7"


def key(region: str) -> JsonObject:
    return {"kmsKeyName": f"projects/p/locations/{region}/keyRings/r/cryptoKeys/k"}


@pytest.mark.parametrize(
    ("document", "warnings"),
    [
        (body(), []),
        (body(network=NETWORK), [f"jobSpec.network {NO_EFFECT}"]),
        (body(enableWebAccess=False, network="", models=[]), []),
        (
            body(persistentResourceId="pool-1", pscInterfaceConfig={"networkAttachment": "a"}),
            [f"jobSpec.pscInterfaceConfig {NO_EFFECT}"],
        ),
        ({**body(), "encryptionSpec": key("us-central1")}, [f"encryptionSpec {NO_EFFECT}"]),
        (
            body(tensorboard=board("us-central1")),
            ["jobSpec.tensorboard has no effect without baseOutputDirectory: Footplate looks"],
        ),
        (
            body(
                tensorboard=board("us-central1"),
                baseOutputDirectory={"outputUriPrefix": "gs://b/out"},
            ),
            [],
        ),
        (
            body(pool(nfsMounts=[{"server": "s", "path": "/p", "mountPoint": "m"}])),
            [f"{POOL}: Footplate doesn't mount NFS and Lustre shares"],
        ),
        (
            body(machine(reservationAffinity={"reservationAffinityType": 2, "key": "k"})),
            [
                f"{POOL}.machineSpec.reservationAffinity {NO_EFFECT}",
                f"{POOL}.machineSpec.reservationAffinity: key and values have an effect only with",
            ],
        ),
        (
            body(container(env=[{"name": "A"}, {"name": "B"}, {"name": "A", "value": "2"}])),
            [f'{POOL}.containerSpec.env: the variable "A" is given 2 times; the last value counts'],
        ),
        (
            body(scheduling={"disableRetries": True, "restartJobOnWorkerRestart": True}),
            ["jobSpec.scheduling.restartJobOnWorkerRestart has no effect beside disableRetries"],
        ),
        (body(scheduling={"restartJobOnWorkerRestart": True, "disableRetries": False}), []),
        (
            body(scheduling={"maxWaitDuration": "60s", "strategy": "SPOT"}),
            ["jobSpec.scheduling.maxWaitDuration has no effect without the strategy FLEX_START"],
        ),
        (
            body(scheduling={"strategy": "LOW_COST"}),
            ["jobSpec.scheduling.strategy LOW_COST is deprecated and means STANDARD"],
        ),
        (
            body(machineSpecs=[], workerPoolSpec={}),
            [
                "jobSpec.machineSpecs is stored, but has no effect: unknown name; allowed: ",
                "jobSpec.workerPoolSpec is stored, but has no effect: unknown name; did you mean",
            ],
        ),
    ],
)
def test_warnings(document: JsonObject, warnings: list[str]) -> None:
    submission = submit(document)
    assert submission.violations == ()
    found = submission.warnings
    assert [told[: len(said)] for told, said in zip(found, warnings, strict=True)] == warnings


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (body(network=NETWORK, serviceAccount="a@b", tensorboard=board("us-central1")), []),
        (
            body(network="projects/demo/global/networks/default"),
            [
                (
                    "jobSpec.network: Google's service requires the project's number, not the "
                    "project's id"
                )
            ],
        ),
        (
            body(tensorboard=board("us-central1")),
            ["jobSpec.tensorboard: Google's service requires a serviceAccount with this field"],
        ),
        (
            body(tensorboard=board("us-east1"), serviceAccount="a@b"),
            ["jobSpec.tensorboard is in us-east1; Google's service requires the job's own"],
        ),
        (
            {**body(), "encryptionSpec": key("us-east1")},
            ["encryptionSpec is in us-east1; Google's service requires the job's own region"],
        ),
        (
            body(baseOutputDirectory={"outputUriPrefix": "/data/out"}),
            ["jobSpec.baseOutputDirectory.outputUriPrefix is a path of this machine"],
        ),
        (body(pool(replicaCount=None)), [f"{POOL}.replicaCount isn't given, so 1 replica starts"]),
        (
            body(pool(machineSpec=A100)),
            [f"{POOL}.machineSpec.gpuPartitionSize: Google's service requires acceleratorCount 1"],
        ),
    ],
)
def test_parity(document: JsonObject, said: list[str]) -> None:
    submission = submit(document)
    assert submission.violations == ()
    found = submission.parity
    assert [told[: len(start)] for told, start in zip(found, said, strict=True)] == said


def test_the_fields_of_a_tuning_job_are_named_as_they_stand_there() -> None:
    spec: JsonObject = {
        "workerPoolSpecs": [pool(replicaCount=None)],
        "network": "projects/demo/global/networks/n",
    }
    submission = tune(tuning(trialJobSpec=spec))
    assert submission.warnings == (f"trialJobSpec.network {NO_EFFECT}",)
    assert [told.partition(" ")[0] for told in submission.parity] == [
        "trialJobSpec.network:",
        "trialJobSpec.workerPoolSpecs[0].replicaCount",
    ]


def test_a_job_that_is_refused_may_be_told_the_same() -> None:
    document: JsonObject = {
        **body(tensorboard="?", network="?"),
        "encryptionSpec": {"kmsKeyName": "?"},
    }
    submission = submit(document, Location("demo", "?"))
    assert len(submission.violations) == 4
    assert len(submission.warnings) == 3


@pytest.mark.parametrize(("made", "said"), [({}, 0), ({"scaleTier": "BASIC"}, 1)])
def test_googles_service_refuses_fields_that_it_does_not_know(made: JsonObject, said: int) -> None:
    for submission in (submit({**body(), **made}), tune({**tuning(), **made})):
        known = [reason for reason in submission.parity if "stores unknown fields" in reason]
        assert len(known) == said
