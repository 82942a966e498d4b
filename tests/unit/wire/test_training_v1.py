"""Jobs of ml v1: read, refused, translated, answered."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.errors import Code, InvalidArgument
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
from footplate.domain.names import TrainingJobName
from footplate.domain.submission import Tuning
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.models import TrainingInput
from footplate.wire.training_v1.patches import read_patch
from footplate.wire.training_v1.responses import format_etag, job_json, parse_etag
from footplate.wire.training_v1.submissions import read_submission, training_spec
from tests.support.jobs import CREATED, make_job

if TYPE_CHECKING:
    from pydantic import JsonValue

NAME = TrainingJobName("demo", "job_1")
CATALOGUE = load_catalogue()


def training(**changes: JsonValue) -> JsonObject:
    """A training input that is fine, with changes; None takes a field away."""
    given: JsonObject = {
        "region": "us-central1",
        "runtimeVersion": "2.21",
        "packageUris": ["gs://b/trainer-0.1.tar.gz"],
        "pythonModule": "trainer.task",
        **changes,
    }
    return {name: value for name, value in given.items() if value is not None}


def body(**changes: JsonValue) -> JsonObject:
    return {"jobId": "job_1", "trainingInput": training(**changes)}


def image(**changes: JsonValue) -> JsonObject:
    """As training, in a container."""
    given: JsonObject = {"runtimeVersion": None, "packageUris": None, "pythonModule": None}
    given |= {"masterConfig": {"imageUri": "gcr.io/p/i"}, **changes}
    return training(**given)


def spec_of(given: JsonObject) -> JobSpec:
    return training_spec(TrainingInput.decode(given), NAME, CATALOGUE)


def test_the_accepted_request_is_kept_in_one_spelling() -> None:
    submission = read_submission(
        {
            "job_id": "job_1",
            "state": "RUNNING",
            "createTime": "whatever",
            "labels": {"a": "b"},
            "training_input": {
                "scale_tier": 0,
                "region": "us-central1",
                "package_uris": ["gs://b/t.tar.gz"],
                "pythonModule": "trainer.task",
                "args": ["--lr", "0.1"],
                "workerCount": 0.0,
                "masterType": None,
                "scheduling": {"priority": "7"},
            },
        },
        "demo",
        CATALOGUE,
    )
    assert json.loads(submission.request) == {
        "jobId": "job_1",
        "trainingInput": {
            "scaleTier": "BASIC",
            "region": "us-central1",
            "packageUris": ["gs://b/t.tar.gz"],
            "pythonModule": "trainer.task",
            "args": ["--lr", "0.1"],
            "workerCount": "0",
            "scheduling": {"priority": 7},
        },
    }
    assert submission.name == NAME
    assert submission.labels == (("a", "b"),)
    assert submission.violations == ()
    assert submission.warnings == ()
    assert submission.tuning is None


def test_the_service_variables_and_the_cluster() -> None:
    spec = read_submission(body(args=["--x", "1 2"]), "demo", CATALOGUE).spec
    assert spec.environment == (
        ("CLOUD_ML_JOB_ID", "job_1"),
        ("CLOUD_ML_PROJECT_ID", "demo"),
        ("CLOUD_ML_REGION", "us-central1"),
    )
    assert spec.primary.program == PythonProgram(
        "version:2.21/", ("gs://b/trainer-0.1.tar.gz",), "trainer.task", ("--x", "1 2")
    )
    assert spec.replica_names() == ("master-replica-0",)
    assert spec.cluster_variables == {ClusterVariable.TF_CONFIG}
    assert json.loads(spec.cluster_job) == training(args=["--x", "1 2"])
    assert (spec.job_dir, spec.directories) == (None, ())
    assert spec.primary.field == "trainingInput"


def test_the_job_directory_is_made_and_handed_over() -> None:
    spec = read_submission(body(jobDir="gs://b/out"), "demo", CATALOGUE).spec
    assert spec.job_dir == "gs://b/out"
    assert spec.directories == (Directory(None, "gs://b/out", "trainingInput.jobDir"),)


@pytest.mark.parametrize(
    ("version", "role"),
    [("1.15", "master"), ("2.0", "master"), ("2.1", "chief"), ("2.11", "chief"), (None, "chief")],
)
def test_the_name_of_the_primary_depends_on_the_runtime_version(
    version: str | None, role: str
) -> None:
    assert spec_of(training(runtimeVersion=version)).chief_role == role


def test_in_a_container_the_primary_is_master_unless_told_otherwise() -> None:
    assert spec_of(image()).chief_role == "master"
    assert spec_of(image(useChiefInTfConfig=True)).chief_role == "chief"
    assert spec_of(image()).cluster_variables == set(ClusterVariable)


def test_the_scale_tiers() -> None:
    standard = spec_of(training(scaleTier="STANDARD_1"))
    assert [(p.cluster_role, p.replica_count, p.machine) for p in standard.pools] == [
        ("master", 1, MachineSpec("n1-highcpu-8")),
        ("worker", 4, MachineSpec("n1-highcpu-8")),
        ("ps", 3, MachineSpec("n1-standard-4")),
    ]
    premium = spec_of(training(scaleTier="PREMIUM_1"))
    assert [p.replica_count for p in premium.pools] == [1, 19, 11]
    assert spec_of(training()).primary.machine == MachineSpec("n1-standard-4")
    gpu = spec_of(training(scaleTier="BASIC_GPU"))
    assert gpu.primary.machine == MachineSpec("n1-standard-8", "NVIDIA_TESLA_K80", 1)


def test_a_custom_cluster() -> None:
    spec = spec_of(
        training(
            scaleTier="CUSTOM",
            masterType="n1-standard-8",
            masterConfig={
                "acceleratorConfig": {"type": "NVIDIA_TESLA_T4", "count": "2"},
                "diskConfig": {"bootDiskSizeGb": 200},
            },
            workerType="n1-standard-4",
            workerCount="2",
            evaluatorType="n1-standard-4",
            evaluatorCount=1,
        )
    )
    assert spec.replica_names() == (
        "master-replica-0",
        "worker-replica-0",
        "worker-replica-1",
        "evaluator-replica-0",
    )
    assert spec.primary.machine == MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)
    assert spec.primary.disk.boot_disk_size_gb == 200


def test_workers_take_the_image_of_the_master_unless_they_have_their_own() -> None:
    given = image(
        scaleTier="CUSTOM",
        masterType="n1-standard-4",
        workerType="n1-standard-4",
        workerCount=1,
        parameterServerType="n1-standard-4",
        parameterServerCount=1,
        parameterServerConfig={"imageUri": "gcr.io/p/ps", "containerArgs": ["--ps"]},
    )
    assert [pool.program for pool in spec_of(given).pools] == [
        ContainerProgram("gcr.io/p/i"),
        ContainerProgram("gcr.io/p/i"),
        ContainerProgram("gcr.io/p/ps", None, ("--ps",)),
    ]


def test_limits_and_priority() -> None:
    given: JsonObject = {"maxRunningTime": "3.5s", "maxWaitTime": "1800s", "priority": 10}
    scheduling = spec_of(training(scheduling=given)).scheduling
    assert scheduling.max_running_time_s == 3.5
    assert scheduling.max_wait_time_s == 1800
    assert scheduling.priority == 10


def test_a_search_is_told_by_its_size() -> None:
    search: JsonObject = {
        "maxTrials": 30,
        "params": [{"parameterName": "lr", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1}],
    }
    assert read_submission(body(hyperparameters=search), "demo", CATALOGUE).tuning == Tuning(1, 30)
    resumed: JsonObject = {"resumePreviousJobId": "earlier"}
    assert read_submission(body(hyperparameters=resumed), "demo", CATALOGUE).tuning == Tuning(0, 1)


def test_of_a_broken_request_there_is_as_much_as_could_be_understood() -> None:
    broken = training(
        region="us-central1",
        scaleTier="CUSTOM",
        masterType=5,
        workerType="n1-standard-4",
        workerCount=10**12,
        packageUris=[7, "gs://b/p.tar.gz"],
        pythonVersion="3.7",
        scheduling={"priority": "high", "maxRunningTime": "60s"},
        jobDir="s3://b/x",
        unheardOf=1,
    )
    submission = read_submission({"jobId": 5, "trainingInput": broken}, "demo", CATALOGUE)
    assert submission.name == TrainingJobName("demo", "")
    assert [v.field.removeprefix("trainingInput.") for v in submission.violations] == [
        "unheardOf",
        "jobId",
        "masterType",
        "packageUris[0]",
        "scheduling.priority",
        "workerCount",
        "pythonVersion",
        "jobDir",
    ]
    spec = submission.spec
    assert [pool.machine.machine_type for pool in spec.pools] == ["", "n1-standard-4"]
    assert spec.scheduling.max_running_time_s == 60
    assert sum(pool.replica_count for pool in spec.pools) == 10_001
    assert spec.primary.program == PythonProgram(
        "version:2.21/", ("", "gs://b/p.tar.gz"), "trainer.task"
    )


def test_without_a_training_input_there_is_no_job() -> None:
    documents: list[JsonObject] = [{}, {"jobId": "j"}, {"jobId": "j", "trainingInput": []}]
    for document in documents:
        with pytest.raises(InvalidArgument, match="trainingInput: "):
            read_submission(document, "demo", CATALOGUE)
    with pytest.raises(InvalidArgument) as refusal:
        read_submission({"jobId": "j", "predictionInput": {}}, "demo", CATALOGUE)
    assert [v.field for v in refusal.value.violations] == ["predictionInput", "trainingInput"]


def test_a_new_job_is_answered_with_what_was_asked() -> None:
    request = '{"jobId":"job_1","trainingInput":{"region":"us-central1"}}'
    job = make_job(request=request, labels=(("a", "b"),))
    assert job_json(job) == {
        "jobId": "job_1",
        "trainingInput": {"region": "us-central1"},
        "labels": {"a": "b"},
        "createTime": "2026-01-02T03:04:05.678901Z",
        "state": "QUEUED",
        "trainingOutput": {},
        "etag": format_etag(1),
    }


def test_a_job_that_succeeded_has_no_error_but_may_have_an_explanation() -> None:
    job = make_job(state=State.SUCCEEDED)
    noted = replace(job, ending=Ending(State.SUCCEEDED, message="its evaluator failed"))
    assert job_json(noted)["endExplanation"] == "its evaluator failed"
    assert "errorMessage" not in job_json(noted)
    assert "endExplanation" not in job_json(replace(job, ending=Ending(State.SUCCEEDED)))


def test_a_job_on_an_engine_says_where_its_replicas_run() -> None:
    where = {"master-replica-0": "the replica runs in job 42 of Slurm on n1"}
    assert job_json(make_job(), engine_jobs=where)["engineJobs"] == where
    assert "engineJobs" not in job_json(make_job())


def test_a_failed_job_says_why_and_when() -> None:
    job = replace(
        make_job(state=State.FAILED),
        start_time=CREATED,
        end_time=CREATED + timedelta(seconds=1),
        ending=Ending(State.FAILED, Code.UNKNOWN, "replica master-replica-0 exited with code 1"),
    )
    answer = job_json(job)
    assert answer["errorMessage"] == "replica master-replica-0 exited with code 1"
    assert answer["startTime"] == "2026-01-02T03:04:05.678901Z"
    assert answer["endTime"] == "2026-01-02T03:04:06.678901Z"
    assert answer["jobPosition"] == "0"


def test_an_etag_gives_its_version_back() -> None:
    assert parse_etag(format_etag(12)) == 12
    for etag in ("", "x", "????", "YWJj"):
        with pytest.raises(InvalidArgument, match="etag"):
            parse_etag(etag)


def test_a_patch_heeds_only_what_its_mask_names() -> None:
    document: JsonObject = {"labels": {"a": "b"}, "etag": format_etag(3), "jobId": "ignored"}
    assert read_patch(document, "labels").version is None
    assert read_patch(document, "labels, etag").version == 3
    assert read_patch({}, "labels").labels == ()
    for mask in ("", "etag", "state", "labels,state", "*"):
        with pytest.raises(InvalidArgument, match="updateMask"):
            read_patch(document, mask)
