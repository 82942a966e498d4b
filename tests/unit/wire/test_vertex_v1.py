"""Custom jobs of aiplatform v1: read, refused, translated, answered."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import (
    ClusterVariable,
    ContainerProgram,
    Directory,
    Ending,
    JobSpec,
    MachineSpec,
    PythonProgram,
)
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.job_specs import job_spec
from footplate.wire.vertex_v1.models import CustomJobSpec
from footplate.wire.vertex_v1.responses import custom_job_json
from tests.support.jobs import CREATED, make_job
from tests.unit.wire.vertex_v1_bodies import HERE, IMAGE, MACHINE, PACKAGE, pool, submit

if TYPE_CHECKING:
    from pydantic import JsonValue


def spec_of(*pools: JsonObject, **changes: JsonValue) -> JobSpec:
    given = CustomJobSpec.decode({"workerPoolSpecs": list(pools or (pool(),)), **changes})
    return job_spec(given, HERE)


def test_the_accepted_request_is_kept_in_one_spelling() -> None:
    submission = submit(
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
        }
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


def test_the_service_variables_and_the_directories() -> None:
    spec = spec_of(baseOutputDirectory={"outputUriPrefix": "gs://b/out"})
    field = "jobSpec.baseOutputDirectory.outputUriPrefix"
    assert spec.directories == (
        Directory("AIP_MODEL_DIR", "gs://b/out/model/", field, "model/"),
        Directory("AIP_CHECKPOINT_DIR", "gs://b/out/checkpoints/", field, "checkpoints/"),
        Directory("AIP_TENSORBOARD_LOG_DIR", "gs://b/out/logs/", field, "logs/"),
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


def test_an_experiment_and_its_run_are_variables() -> None:
    context = "projects/demo/locations/us-central1/metadataStores/default/contexts/e"
    run = f"{context}-run"
    spec = spec_of(experiment=context, experimentRun=run)
    assert spec.environment[2:] == (
        ("AIP_EXPERIMENT_NAME", context),
        ("AIP_EXPERIMENT_RUN_NAME", run),
    )
    assert spec_of(experimentRun=run).environment[2:] == ()


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
    assert scheduling.max_running_time_s == 90
    assert (scheduling.max_restarts, scheduling.max_retries) == (0, 0)


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


def test_a_job_that_succeeded_has_no_error_but_may_have_an_explanation() -> None:
    ending = Ending(State.SUCCEEDED, message="its evaluator failed")
    told = custom_job_json(replace(make_job(NAME, state=State.SUCCEEDED), ending=ending))
    assert told["endExplanation"] == "its evaluator failed"
    assert "error" not in told


def test_a_job_on_an_engine_says_where_its_replicas_run() -> None:
    where = {"workerpool0-0": "the replica runs in job 42 of Slurm on n1"}
    assert custom_job_json(make_job(NAME), engine_jobs=where)["engineJobs"] == where
    assert "engineJobs" not in custom_job_json(make_job(NAME))


def test_a_running_job_has_no_error() -> None:
    job = replace(make_job(NAME, state=State.CANCELLING), ending=Ending(State.CANCELLED))
    assert "error" not in custom_job_json(job)
