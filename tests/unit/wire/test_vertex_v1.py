"""Custom jobs of aiplatform v1: read, refused, translated, answered."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Code, InvalidArgument, Unimplemented
from footplate.domain.jobs import (
    ClusterVariable,
    ContainerProgram,
    Directory,
    Ending,
    JobSpec,
    MachineSpec,
    PythonProgram,
)
from footplate.domain.states import State
from footplate.domain.submission import Location
from footplate.testing.jobs import CREATED, make_job
from footplate.wire.vertex_v1.answers import custom_job_json
from footplate.wire.vertex_v1.models import CustomJobSpec
from footplate.wire.vertex_v1.submissions import custom_job_spec, read_submission

if TYPE_CHECKING:
    from pydantic import JsonValue

    from footplate.wire.json_text import JsonObject

HERE = Location("demo", "us-central1")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest"
PACKAGE: JsonObject = {
    "executorImageUri": IMAGE,
    "packageUris": ["gs://b/trainer-0.1.tar.gz"],
    "pythonModule": "trainer.task",
    "args": ["--x", "1"],
    "env": [{"name": "A", "value": "B"}, {"name": "EMPTY"}],
}
MACHINE: JsonObject = {"machineType": "n1-standard-4"}


def pool(**changes: JsonValue) -> JsonObject:
    """A pool that is fine, with changes; None takes a field away."""
    given: JsonObject = {
        "machineSpec": MACHINE,
        "replicaCount": "1",
        "pythonPackageSpec": PACKAGE,
        **changes,
    }
    return {name: value for name, value in given.items() if value is not None}


def body(*pools: JsonObject, **changes: JsonValue) -> JsonObject:
    spec: JsonObject = {"workerPoolSpecs": list(pools or (pool(),)), **changes}
    return {"displayName": "a job", "jobSpec": spec}


def spec_of(*pools: JsonObject, **changes: JsonValue) -> JobSpec:
    given = CustomJobSpec.decode({"workerPoolSpecs": list(pools or (pool(),)), **changes})
    return custom_job_spec(given, HERE)


def violations(document: JsonObject) -> dict[str, str]:
    with pytest.raises(InvalidArgument) as refusal:
        read_submission(document, HERE)
    return {v.field: v.description for v in refusal.value.violations}


def test_the_accepted_request_is_kept_in_one_spelling() -> None:
    submission = read_submission(
        {
            "display_name": "a job",
            "name": "projects/x/locations/y/customJobs/z",
            "state": "nonsense",
            "labels": {"a": "b"},
            "job_spec": {
                "worker_pool_specs": [
                    {
                        "machine_spec": {
                            "machine_type": "n1-standard-4",
                            "accelerator_type": 5.0,
                            "accelerator_count": 1.0,
                        },
                        "replica_count": 1.0,
                        "python_package_spec": PACKAGE,
                    },
                    {},
                ],
                "scheduling": {"strategy": 4, "timeout": None},
                "futureField": {"deep": [1, None]},
            },
        },
        HERE,
    )
    assert json.loads(submission.request) == {
        "displayName": "a job",
        "jobSpec": {
            "workerPoolSpecs": [
                {
                    "machineSpec": {
                        "machineType": "n1-standard-4",
                        "acceleratorType": "NVIDIA_TESLA_T4",
                        "acceleratorCount": 1,
                    },
                    "replicaCount": "1",
                    "pythonPackageSpec": PACKAGE,
                },
                {},
            ],
            "scheduling": {"strategy": "SPOT"},
            "futureField": {"deep": [1, None]},
        },
    }
    assert (submission.name, submission.display_name) == (HERE, "a job")
    assert submission.labels == (("a", "b"),)
    assert [w.split(" ", 1)[0] for w in submission.warnings] == ["jobSpec.futureField"]


def test_unknown_enum_values_are_refused_and_all_wrong_types_told() -> None:
    found = violations(
        {
            "displayName": 3,
            "jobSpec": {
                "workerPoolSpecs": [{"machineSpec": {"acceleratorType": "T4"}}, 5],
                "scheduling": {"strategy": 5, "timeout": 3600},
                "enableWebAccess": "yes",
            },
        }
    )
    assert "allowed: ACCELERATOR_TYPE_UNSPECIFIED, NVIDIA_TESLA_K80" in found.pop(
        "jobSpec.workerPoolSpecs[0].machineSpec.acceleratorType"
    )
    assert found == {
        "displayName": '3 given; allowed: a string, such as "3"',
        "jobSpec.workerPoolSpecs[1]": "5 given; allowed: an object",
        "jobSpec.scheduling.strategy": (
            "5 given; allowed: STRATEGY_UNSPECIFIED, ON_DEMAND, LOW_COST, STANDARD, SPOT, "
            "FLEX_START"
        ),
        "jobSpec.scheduling.timeout": '3600 given; allowed: seconds as a string, such as "3600s"',
        "jobSpec.enableWebAccess": '"yes" given; allowed: true or false',
    }


_POOL = "jobSpec.workerPoolSpecs[0]"


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ({}, {"displayName", "jobSpec"}),
        ({"displayName": "x" * 129, "jobSpec": {}}, {"displayName", "jobSpec.workerPoolSpecs"}),
        (body({}), {f"{_POOL}.machineSpec.machineType", _POOL}),
        (body(*[pool()] * 5), {"jobSpec.workerPoolSpecs"}),
        (body(pool(replicaCount=2)), {f"{_POOL}.replicaCount"}),
        (body(pool(replicaCount=0)), {f"{_POOL}.replicaCount"}),
        (body(pool(), pool(replicaCount=None)), {"jobSpec.workerPoolSpecs[1].replicaCount"}),
        (body(pool(), pool(replicaCount=10**9)), {"jobSpec.workerPoolSpecs[1].replicaCount"}),
        (body(pool(containerSpec={"imageUri": "i"})), {_POOL}),
        (body(pool(pythonPackageSpec=None)), {_POOL}),
        (
            body(pool(pythonPackageSpec=None, containerSpec={})),
            {f"{_POOL}.containerSpec.imageUri"},
        ),
        (
            body(pool(pythonPackageSpec={})),
            {
                f"{_POOL}.pythonPackageSpec.{name}"
                for name in ("executorImageUri", "packageUris", "pythonModule")
            },
        ),
        (
            body(pool(pythonPackageSpec={**PACKAGE, "env": [{"name": "1A", "value": "x"}]})),
            {f"{_POOL}.pythonPackageSpec.env[0].name"},
        ),
        (
            body(pool(pythonPackageSpec={**PACKAGE, "env": [{"name": "A"}] * 101})),
            {f"{_POOL}.pythonPackageSpec.env"},
        ),
        (
            body(pool(machineSpec={**MACHINE, "acceleratorType": "NVIDIA_L4"})),
            {f"{_POOL}.machineSpec.acceleratorCount"},
        ),
        (body(pool(diskSpec={"bootDiskType": "tape"})), {f"{_POOL}.diskSpec.bootDiskType"}),
        (
            body(baseOutputDirectory={"outputUriPrefix": "http://x"}),
            {"jobSpec.baseOutputDirectory.outputUriPrefix"},
        ),
        (body(scheduling={"timeout": "-1s"}), {"jobSpec.scheduling.timeout"}),
        ({**body(), "labels": {"x": "Y"}}, {"labels.x"}),
    ],
)
def test_a_rule_names_its_field(document: JsonObject, fields: set[str]) -> None:
    assert set(violations(document)) == fields


def test_the_service_variables_and_the_directories() -> None:
    spec = spec_of(baseOutputDirectory={"outputUriPrefix": "gs://b/out"})
    field = "jobSpec.baseOutputDirectory.outputUriPrefix"
    assert spec.directories == (
        Directory("AIP_MODEL_DIR", "gs://b/out/model/", field),
        Directory("AIP_CHECKPOINT_DIR", "gs://b/out/checkpoints/", field),
        Directory("AIP_TENSORBOARD_LOG_DIR", "gs://b/out/logs/", field),
    )
    assert spec.environment == (
        ("CLOUD_ML_PROJECT_ID", "demo"),
        ("CLOUD_ML_REGION", "us-central1"),
    )
    assert spec.job_dir is None
    assert spec.primary.environment == (("A", "B"), ("EMPTY", ""))
    assert spec.primary.program == PythonProgram(
        f"image:{IMAGE}", ("gs://b/trainer-0.1.tar.gz",), "trainer.task", ("--x", "1")
    )
    assert spec.primary.field == "jobSpec.workerPoolSpecs[0].pythonPackageSpec"
    assert spec.cluster_variables == {ClusterVariable.CLUSTER_SPEC}
    assert json.loads(spec.cluster_job)["workerPoolSpecs"] == [pool()]


def test_an_empty_pool_keeps_the_places_of_those_after_it() -> None:
    spec = spec_of(pool(), {}, pool(replicaCount=2), {})
    assert spec.replica_names() == ("workerpool0-0", "workerpool2-0", "workerpool2-1")
    assert spec.cluster_variables == set(ClusterVariable)
    assert spec.chief_role == "chief"


def test_a_container() -> None:
    container: JsonObject = {"imageUri": "i", "command": ["c"], "args": [], "env": [{"name": "A"}]}
    spec = spec_of(pool(pythonPackageSpec=None, containerSpec=container))
    assert spec.primary.program == ContainerProgram("i", ("c",), None)
    assert spec.primary.environment == (("A", ""),)


def test_machines_and_disks() -> None:
    machine: JsonObject = {**MACHINE, "acceleratorType": 11, "acceleratorCount": 2}
    primary = spec_of(pool(machineSpec=machine, diskSpec={"bootDiskSizeGb": "50"})).primary
    assert primary.machine == MachineSpec("n1-standard-4", "NVIDIA_L4", 2)
    assert primary.disk.boot_disk_size_gb == 50


@pytest.mark.parametrize(
    ("given", "limit_s"),
    [
        ({}, None),
        ({"maxWaitDuration": "60s"}, None),
        ({"strategy": "FLEX_START"}, 86_400),
        ({"strategy": "FLEX_START", "maxWaitDuration": "60s"}, 60),
        ({"strategy": "FLEX_START", "maxWaitDuration": "0s"}, None),
    ],
)
def test_only_flexible_starts_wait_for_a_limited_time(
    given: JsonObject, limit_s: float | None
) -> None:
    assert spec_of(scheduling=given).scheduling.max_wait_time_s == limit_s


def test_timeout_and_retries() -> None:
    given: JsonObject = {"timeout": "90s", "disableRetries": True}
    scheduling = spec_of(scheduling=given).scheduling
    assert (scheduling.max_running_time_s, scheduling.max_attempts) == (90, 1)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (body(pool(), pool(replicaCount=3)), "this one has 4"),
        (body(pool(pythonPackageSpec=None, containerSpec={"imageUri": "i"})), "custom containers"),
    ],
)
def test_what_isnt_there_yet_says_so(document: JsonObject, said: str) -> None:
    with pytest.raises(Unimplemented, match=said):
        read_submission(document, HERE)


def test_fields_without_effect_are_warned_of() -> None:
    warnings = read_submission(
        body(pool(nfsMounts=[{"server": "s"}]), network="n", enableWebAccess=False), HERE
    ).warnings
    assert [w.split(" ", 1)[0] for w in warnings] == [
        "jobSpec.network",
        "jobSpec.workerPoolSpecs[0]:",
    ]


def test_many_unknown_fields_are_summed_up() -> None:
    warnings = read_submission({**body(), **{f"new{i}": i for i in range(100)}}, HERE).warnings
    assert len(warnings) == 21
    assert warnings[-1] == "80 more unknown fields have no effect"


NAME = "projects/demo/locations/us-central1/customJobs/123"


def test_a_new_job_is_answered_with_what_was_asked() -> None:
    job = make_job(NAME, request='{"displayName":"a job","jobSpec":{}}', labels=(("a", "b"),))
    assert custom_job_json(job) == {
        "name": NAME,
        "displayName": "a job",
        "jobSpec": {},
        "labels": {"a": "b"},
        "state": "JOB_STATE_QUEUED",
        "createTime": "2026-01-02T03:04:05.678901Z",
        "updateTime": "2026-01-02T03:04:05.678901Z",
    }


@pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
def test_a_job_that_didnt_succeed_has_an_error_with_a_code(state: State) -> None:
    told = Ending(state, Code.CANCELLED, "cancelled by request")
    job = replace(make_job(NAME, state=state), end_time=CREATED)
    assert custom_job_json(replace(job, ending=told))["error"] == {
        "code": 1,
        "message": "cancelled by request",
    }
    assert custom_job_json(job)["error"] == {"code": 2, "message": f"the job ended {state.value}"}


def test_a_running_job_has_no_error() -> None:
    job = replace(make_job(NAME, state=State.CANCELLING), ending=Ending(State.CANCELLED))
    assert "error" not in custom_job_json(job)
