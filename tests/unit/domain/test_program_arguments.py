"""What programs are told: one table for all kinds of jobs, as their faces make them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.domain.jobs import Address, JobSpec, PythonProgram
from footplate.domain.names import TrainingJobName
from footplate.domain.program_arguments import arguments, variables
from footplate.domain.submission import Location
from footplate.domain.variable_expansion import expand
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.models import TrainingInput
from footplate.wire.training_v1.submissions import training_spec
from footplate.wire.vertex_v1.job_specs import job_spec
from footplate.wire.vertex_v1.models import CustomJobSpec
from tests.support.catalogue import built_in
from tests.support.jobs import PROGRAM, make_custom_name, make_spec

if TYPE_CHECKING:
    from pydantic import JsonValue

GANG: JsonObject = {"workerCount": 2, "parameterServerCount": 1, "evaluatorCount": 1}
IMAGE: JsonObject = {"masterConfig": {"imageUri": "gcr.io/p/trainer"}}
CONTAINER: JsonObject = {"containerSpec": {"imageUri": "gcr.io/p/trainer"}}
PACKAGE: JsonObject = {
    "pythonPackageSpec": {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311",
        "packageUris": ["gs://b/t.tar.gz"],
        "pythonModule": "trainer.task",
    }
}


def ml(**given: JsonValue) -> JobSpec:
    tier = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4"}
    training = TrainingInput.decode({"region": "us-central1", **tier, **given})
    return training_spec(training, TrainingJobName("demo", "job_1"), built_in())


def vertex(program: JsonObject, *counts: int) -> JobSpec:
    """0 is a pool that isn't used."""
    machine: JsonObject = {"machineSpec": {"machineType": "n1-standard-4"}}
    pools: list[JsonValue] = [
        {**machine, "replicaCount": str(count), **program} if count else {} for count in counts
    ]
    return job_spec(CustomJobSpec.decode({"workerPoolSpecs": pools}), Location("demo", "us-east1"))


JOBS = {
    "ml-1.15": ml(runtimeVersion="1.15"),
    "ml-newest": ml(),
    "ml-2.0-ps": ml(runtimeVersion="2.0", parameterServerCount=1),
    "ml-2.1-ps": ml(runtimeVersion="2.1", parameterServerCount=1),
    "ml-newest-ps": ml(parameterServerCount=1),
    "ml-1.15-gang": ml(runtimeVersion="1.15", **GANG),
    "ml-2.21-gang": ml(runtimeVersion="2.21", **GANG),
    "ml-2.21-ps": ml(runtimeVersion="2.21", parameterServerCount=1),
    "ml-image": ml(**IMAGE),
    "ml-image-gang": ml(**IMAGE, **GANG),
    "ml-image-gang-chief": ml(**IMAGE, **GANG, useChiefInTfConfig=True),
    "vertex": vertex(PACKAGE, 1),
    "vertex-gang": vertex(PACKAGE, 1, 2, 1, 1),
    "vertex-ps": vertex(PACKAGE, 1, 0, 1),
    "vertex-evaluator": vertex(PACKAGE, 1, 0, 0, 1),
    "vertex-image": vertex(CONTAINER, 1),
    "vertex-image-gang": vertex(CONTAINER, 1, 1, 0, 1),
}
TABLE = """
JOB                  REPLICA              TF_CONFIG  CLUSTER_SPEC  RANK
ml-1.15              master-replica-0     alone      -             -
ml-newest            master-replica-0     alone      -             -
ml-2.0-ps            master-replica-0     master     -             -
ml-2.0-ps            ps-replica-0         ps         -             -
ml-2.1-ps            master-replica-0     chief      -             -
ml-2.1-ps            ps-replica-0         ps         -             -
ml-newest-ps         master-replica-0     chief      -             -
ml-1.15-gang         master-replica-0     master     -             0/3
ml-1.15-gang         worker-replica-1     worker     -             2/3
ml-1.15-gang         ps-replica-0         ps         -             -
ml-1.15-gang         evaluator-replica-0  evaluator  -             -
ml-2.21-gang         master-replica-0     chief      -             0/3
ml-2.21-gang         worker-replica-0     worker     -             1/3
ml-2.21-gang         ps-replica-0         ps         -             -
ml-2.21-gang         evaluator-replica-0  evaluator  -             -
ml-2.21-ps           master-replica-0     chief      -             -
ml-2.21-ps           ps-replica-0         ps         -             -
ml-image             master-replica-0     alone      master        -
ml-image-gang        master-replica-0     master     master        0/3
ml-image-gang        worker-replica-1     worker     worker        2/3
ml-image-gang        ps-replica-0         ps         ps            -
ml-image-gang        evaluator-replica-0  evaluator  evaluator     -
ml-image-gang-chief  master-replica-0     chief      master        0/3
vertex               workerpool0-0        -          workerpool0   -
vertex-gang          workerpool0-0        chief      workerpool0   0/3
vertex-gang          workerpool1-1        worker     workerpool1   2/3
vertex-gang          workerpool2-0        ps         workerpool2   -
vertex-gang          workerpool3-0        evaluator  workerpool3   -
vertex-ps            workerpool0-0        chief      workerpool0   -
vertex-ps            workerpool2-0        ps         workerpool2   -
vertex-evaluator     workerpool0-0        chief      workerpool0   -
vertex-evaluator     workerpool3-0        evaluator  workerpool3   -
vertex-image         workerpool0-0        -          workerpool0   -
vertex-image-gang    workerpool0-0        chief      workerpool0   0/2
vertex-image-gang    workerpool1-0        worker     workerpool1   1/2
vertex-image-gang    workerpool3-0        evaluator  workerpool3   -
"""
"""What a replica is called in each variable.

``-``: the variable isn't set. ``alone``: it is set, has no cluster, and doesn't call it anything.
"""
ALWAYS = {"CLOUD_ML_JOB_ID", "CLOUD_ML_PROJECT_ID", "CLOUD_ML_REGION"}
RANKS = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}


def addresses_of(spec: JobSpec) -> dict[str, Address]:
    names = enumerate(spec.replica_names())
    return {name: Address("127.0.0.1", 2222 + n, (3333 + n,)) for n, name in names}


def told(spec: JobSpec, replica: str) -> dict[str, str]:
    return dict(variables(spec, replica, "job_1", addresses_of(spec), str))


def rows() -> Iterator[tuple[str, ...]]:
    for line in TABLE.strip().splitlines()[1:]:
        yield tuple(line.split())


@pytest.mark.parametrize(("job", "replica", "tf_config", "cluster_spec", "rank"), list(rows()))
def test_what_is_set_and_what_is_not(
    job: str, replica: str, tf_config: str, cluster_spec: str, rank: str
) -> None:
    made = told(JOBS[job], replica)

    expected = set(ALWAYS)
    for name, role in (("TF_CONFIG", tf_config), ("CLUSTER_SPEC", cluster_spec)):
        if role != "-":
            expected.add(name)
            described = json.loads(made[name])
            assert described["task"].get("type", "alone") == role
            assert (described["cluster"] == {}) == (role == "alone")
    if rank != "-":
        expected |= RANKS
        assert f"{made['RANK']}/{made['WORLD_SIZE']}" == rank
        assert (made["MASTER_ADDR"], made["MASTER_PORT"]) == ("127.0.0.1", "2222")
    assert made.keys() == expected


def test_every_kind_of_job_is_in_the_table() -> None:
    assert {job for job, *_ in rows()} == JOBS.keys()


@pytest.mark.parametrize("job", JOBS)
def test_job_is_what_was_asked_for(job: str) -> None:
    spec = JOBS[job]
    made = told(spec, spec.replica_names()[0])
    described = json.loads(made.get("TF_CONFIG", made.get("CLUSTER_SPEC", "")))
    key = "masterType" if job.startswith("ml") else "workerPoolSpecs"
    assert key in described["job"]


@pytest.mark.parametrize("job", JOBS)
def test_a_trial_is_told_in_tuning_jobs_and_nowhere_else(job: str) -> None:
    spec = JOBS[job]
    primary = spec.replica_names()[0]
    assert "trial" not in "".join(told(spec, primary))

    made = told(replace(spec, trial="12"), primary)

    assert made["CLOUD_ML_TRIAL_ID"] == "12"
    described = [json.loads(made[name]) for name in ("TF_CONFIG", "CLUSTER_SPEC") if name in made]
    assert {d["task"]["trial"] for d in described} == {"12"}


def test_nothing_of_the_cluster_is_told_before_it_is_known() -> None:
    made = dict(variables(JOBS["vertex-gang"], "workerpool1-0", "7", {}, str))
    assert made.keys() == ALWAYS
    assert made["CLOUD_ML_JOB_ID"] == "7"


def test_directories_are_handed_over_in_the_form_of_the_job() -> None:
    spec = make_spec(make_custom_name("7"))
    made = dict(variables(spec, "workerpool0-0", "7", {}, lambda uri: uri.replace("gs:/", "/gcs")))
    assert made["AIP_MODEL_DIR"] == "/gcs/demo-bucket/output/7/model/"
    assert made["AIP_CHECKPOINT_DIR"] == "/gcs/demo-bucket/output/7/checkpoints/"
    assert made["AIP_TENSORBOARD_LOG_DIR"] == "/gcs/demo-bucket/output/7/logs/"


def test_the_users_own_variables_win_and_may_refer_to_the_services() -> None:
    spec = JOBS["vertex-gang"]
    given = variables(spec, "workerpool1-0", "7", addresses_of(spec), str)
    own = (
        ("RANK", "5"),
        ("TF_CONFIG", "{}"),
        ("INIT", "tcp://$(MASTER_ADDR):$(MASTER_PORT)?rank=$(RANK)"),
    )

    made = dict(expand(given, own))

    assert (made["RANK"], made["WORLD_SIZE"], made["TF_CONFIG"]) == ("5", "3", "{}")
    assert made["INIT"] == "tcp://127.0.0.1:2222?rank=5"


def test_the_job_directory_is_the_last_argument_where_there_is_one() -> None:
    program = PythonProgram("version:/", (), "m", ("--x", "--job-dir", "mine"))
    spec = replace(make_spec(program=program), job_dir="gs://b/out")

    assert arguments(spec, program, str.upper) == (*program.args, "--job-dir", "GS://B/OUT")
    assert arguments(make_spec(), PROGRAM, str.upper) == PROGRAM.args
