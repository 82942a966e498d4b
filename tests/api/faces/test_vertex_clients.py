"""The unmodified google-cloud-aiplatform against aiplatform v1, over REST."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from google.api_core import exceptions
from google.cloud import aiplatform, aiplatform_v1, aiplatform_v1beta1
from google.cloud.aiplatform_v1.types import job_state
from google.oauth2.credentials import Credentials

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.names import parse_job_name
from footplate.domain.submission import Tuning
from tests.support.jobs_service import MemoryJobs

if TYPE_CHECKING:
    import httpx

P = "projects/demo/locations/us-central1"
POOL = {
    "machine_spec": {
        "machine_type": "n1-standard-4",
        "accelerator_type": "NVIDIA_TESLA_T4",
        "accelerator_count": 1,
    },
    "replica_count": 1,
    "python_package_spec": {
        "executor_image_uri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest",
        "package_uris": ["gs://b/trainer-0.1.tar.gz"],
        "python_module": "trainer.task",
        "args": ["--x", "1"],
        "env": [{"name": "A", "value": "B"}],
    },
}


@pytest.fixture
def sdk(url: str, anonymous: Any) -> Iterator[None]:
    aiplatform.init(
        project="demo",
        location="us-central1",
        staging_bucket="gs://stage",
        api_endpoint=url,
        api_transport="rest",
        credentials=anonymous,
    )
    yield
    aiplatform.initializer.global_pool.shutdown(wait=True)


@pytest.fixture
def client(url: str, anonymous: Any) -> aiplatform_v1.JobServiceClient:
    return aiplatform_v1.JobServiceClient(
        transport="rest",
        client_options={"api_endpoint": url},
        credentials=anonymous,
    )


def custom_job(display_name: str = "a job") -> Any:
    """Any: most of the SDK's methods have no types."""
    return aiplatform.CustomJob(
        display_name=display_name, worker_pool_specs=[POOL], labels={"team": "a"}
    )


@pytest.mark.usefixtures("sdk")
def test_submit_get_list_cancel_delete(jobs: MemoryJobs) -> None:
    job = custom_job()
    job.submit(timeout=3600, restart_job_on_worker_restart=True)
    assert job.state is job_state.JobState.JOB_STATE_QUEUED
    assert job.labels == {"team": "a"}
    assert job.display_name == "a job"
    spec = jobs.submissions[0].spec
    assert spec.scheduling.max_running_time_s == 3600
    assert spec.primary.machine.accelerator_type == "NVIDIA_TESLA_T4"
    assert [d.variable for d in spec.directories] == [
        "AIP_MODEL_DIR",
        "AIP_CHECKPOINT_DIR",
        "AIP_TENSORBOARD_LOG_DIR",
    ]

    again = aiplatform.CustomJob.get(job.resource_name)
    assert again.resource_name == job.resource_name
    custom_job("another").submit()
    listed = aiplatform.CustomJob.list(filter='display_name="a job"', order_by="create_time")
    assert [found.resource_name for found in listed] == [job.resource_name]

    job.cancel()
    assert job.state is job_state.JobState.JOB_STATE_CANCELLED
    assert job.error.code == 1
    job.delete()
    with pytest.raises(exceptions.NotFound):
        aiplatform.CustomJob.get(again.resource_name)


@pytest.mark.usefixtures("sdk")
def test_a_finished_job_is_waited_for_no_longer(jobs: MemoryJobs) -> None:
    job = custom_job()
    job.submit()
    name = parse_job_name(job.resource_name)
    jobs.end(name, Ending(State.SUCCEEDED))
    job.wait_for_resource_creation()
    job.wait()
    assert job.start_time is not None
    assert job.end_time is not None
    assert job.error.code == 0


@pytest.mark.usefixtures("sdk")
def test_a_failed_job_raises_its_cause(jobs: MemoryJobs) -> None:
    job = custom_job()
    job.submit()
    told = Ending(State.FAILED, Code.UNKNOWN, "replica workerpool0-0 exited with code 1")
    jobs.end(parse_job_name(job.resource_name), told)
    with pytest.raises(RuntimeError, match="replica workerpool0-0 exited with code 1"):
        job._block_until_complete()


@pytest.mark.usefixtures("sdk")
def test_a_refusal_names_the_field() -> None:
    pool = {**POOL, "replica_count": 2}
    job = aiplatform.CustomJob(display_name="a job", worker_pool_specs=[pool])
    with pytest.raises(exceptions.BadRequest, match=r"workerPoolSpecs\[0\]\.replicaCount"):
        job.submit()


@pytest.mark.usefixtures("sdk")
def test_lists_are_followed_over_pages(client: aiplatform_v1.JobServiceClient) -> None:
    for number in range(5):
        custom_job(f"job {number}").submit()
    request = aiplatform_v1.ListCustomJobsRequest(parent=P, page_size=2, read_mask="displayName")
    found = list(client.list_custom_jobs(request))
    assert [job.display_name for job in found] == [f"job {number}" for number in (4, 3, 2, 1, 0)]
    assert not any(job.name for job in found)


def test_gapic_sends_enums_as_numbers(
    client: aiplatform_v1.JobServiceClient, jobs: MemoryJobs
) -> None:
    """``strategy`` is 6 and comes back as the client knows it."""
    job = aiplatform_v1.CustomJob(
        display_name="a job",
        job_spec={
            "worker_pool_specs": [POOL],
            "scheduling": {"strategy": "FLEX_START", "max_wait_duration": {"seconds": 0}},
        },
    )
    made = client.create_custom_job(parent=P, custom_job=job)
    got = client.get_custom_job(name=made.name)
    assert got.job_spec.scheduling.strategy is aiplatform_v1.Scheduling.Strategy.FLEX_START
    assert got.job_spec == job.job_spec
    assert got.state is job_state.JobState.JOB_STATE_QUEUED
    assert jobs.submissions[0].spec.scheduling.max_wait_time_s is None


def test_an_empty_custom_job_is_told_all_that_is_missing(
    client: aiplatform_v1.JobServiceClient,
) -> None:
    with pytest.raises(exceptions.BadRequest) as refusal:
        client.create_custom_job(parent=P, custom_job=aiplatform_v1.CustomJob())
    assert "displayName: required" in refusal.value.message
    violations = refusal.value.details[0]["fieldViolations"]
    assert [violation["field"] for violation in violations] == ["displayName", "jobSpec"]


@pytest.mark.parametrize("version", [aiplatform_v1, aiplatform_v1beta1])
def test_a_deletion_is_an_operation_that_is_found_again(
    url: str, anonymous: Any, version: Any
) -> None:
    client = version.JobServiceClient(
        transport="rest", client_options={"api_endpoint": url}, credentials=anonymous
    )
    job = {"display_name": "a job", "job_spec": {"worker_pool_specs": [POOL]}}
    name = client.create_custom_job(parent=P, custom_job=job).name
    with pytest.raises(exceptions.BadRequest, match="QUEUED"):
        client.delete_custom_job(name=name)
    client.cancel_custom_job(name=name)
    deletion = client.delete_custom_job(name=name)
    deletion.result(timeout=10)
    assert type(deletion.metadata).__name__ == "DeleteOperationMetadata"
    found = client.get_operation({"name": deletion.operation.name})
    assert found.done
    assert found == deletion.operation
    assert client.wait_operation({"name": deletion.operation.name}) == found
    client.cancel_operation({"name": deletion.operation.name})
    client.delete_operation({"name": deletion.operation.name})
    assert list(client.list_operations({"name": P}).operations) == []


def test_locations(client: aiplatform_v1.JobServiceClient) -> None:
    names = [x.location_id for x in client.list_locations({"name": "projects/demo"}).locations]
    assert "us-central1" in names
    assert client.get_location({"name": P}).name == P


def test_tuning_jobs_are_checked(client: aiplatform_v1.JobServiceClient) -> None:
    assert list(client.list_hyperparameter_tuning_jobs(parent=P)) == []
    job = aiplatform_v1.HyperparameterTuningJob()
    with pytest.raises(exceptions.BadRequest) as refusal:
        client.create_hyperparameter_tuning_job(parent=P, hyperparameter_tuning_job=job)
    violations = refusal.value.details[0]["fieldViolations"]
    assert [violation["field"] for violation in violations] == [
        "displayName",
        "maxTrialCount",
        "parallelTrialCount",
        "studySpec",
        "trialJobSpec",
    ]


def test_what_protobuf_leaves_out_of_a_search_is_zero(
    client: aiplatform_v1.JobServiceClient, jobs: MemoryJobs
) -> None:
    scale = {"parameter_id": "x", "double_value_spec": {"min_value": 0, "max_value": 1}}
    condition = {"parent_int_values": {"values": [0]}, "parameter_spec": scale}
    depth = {
        "parameter_id": "depth",
        "integer_value_spec": {"min_value": 0, "max_value": 3},
        "conditional_parameter_specs": [condition],
    }
    study = {
        "metrics": [{"metric_id": "loss", "goal": "MINIMIZE"}],
        "parameters": [depth],
        "algorithm": "RANDOM_SEARCH",
        "measurement_selection_type": "BEST_MEASUREMENT",
        "median_automated_stopping_spec": {"use_elapsed_duration": False},
        "study_stopping_config": {
            "should_stop_asap": False,
            "maximum_runtime_constraint": {"max_duration": "3600s"},
            "max_num_trials": 5,
        },
    }
    job = aiplatform_v1.HyperparameterTuningJob(
        display_name="a search",
        max_trial_count=20,
        parallel_trial_count=1,
        study_spec=study,
        trial_job_spec={"worker_pool_specs": [POOL]},
    )
    client.create_hyperparameter_tuning_job(parent=P, hyperparameter_tuning_job=job)
    (submission,) = jobs.submissions
    assert submission.tuning == Tuning(parameters=2, max_trials=20)
    assert (submission.warnings, submission.violations) == ((), ())


def test_a_bearer_token(guarded: httpx.Client, anonymous: Any) -> None:
    bearer: Any = Credentials
    options = {"api_endpoint": str(guarded.base_url).rstrip("/")}
    trusted = aiplatform_v1.JobServiceClient(
        transport="rest", client_options=options, credentials=bearer(token="s3cret")
    )
    assert list(trusted.list_custom_jobs(parent=P)) == []
    for credentials in (anonymous, bearer(token="wrong")):
        stranger = aiplatform_v1.JobServiceClient(
            transport="rest", client_options=options, credentials=credentials
        )
        with pytest.raises(exceptions.Forbidden, match="token"):
            stranger.list_custom_jobs(parent=P)
