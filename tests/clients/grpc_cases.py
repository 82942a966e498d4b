"""Calls of ``google.cloud.aiplatform_v1`` and ``v1beta1`` over gRPC, under ``footplate run``.

Run in a process of its own, by tests/support/own_process.py.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import grpc
from google.api_core import exceptions
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform_v1, aiplatform_v1beta1

JOBS = "/google.cloud.aiplatform.v1.JobService/"
PARENT = "projects/demo/locations/us-central1"
VERSIONS = (aiplatform_v1, aiplatform_v1beta1)
LIMIT_S = 120
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
POOL = {
    "machine_spec": {"machine_type": "n1-standard-4"},
    "replica_count": 1,
    "python_package_spec": {
        "executor_image_uri": IMAGE,
        "package_uris": ["gs://stage/trainer-1.tar.gz"],
        "python_module": "trainer.task",
    },
}
STUDY_SPEC = {
    "metrics": [{"metric_id": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {"parameter_id": "x", "double_value_spec": {"min_value": 0.0, "max_value": 1.0}},
    ],
    "algorithm": "RANDOM_SEARCH",
}


def refusal(kind: Any, call: Any, *args: Any, **kwargs: Any) -> Any:
    """The error that a call raises; it must."""
    try:
        call(*args, **kwargs)
    except kind as error:
        return error
    raise AssertionError("accepted")


def raw(channel: Any, method: str, content: bytes) -> Any:
    return refusal(grpc.RpcError, channel.unary_unary(method), content, timeout=LIMIT_S)


def case_the_transport_is_grpc() -> None:
    for module in VERSIONS:
        client = module.JobServiceClient()
        assert type(client.transport).__name__ == "JobServiceGrpcTransport"
        assert client.transport.kind == "grpc"
        assert client.transport.host == "aiplatform.googleapis.com:443"


def case_rest_is_used_where_it_is_asked_for() -> None:
    client = aiplatform_v1.JobServiceClient(transport="rest")
    assert client.transport.kind == "rest"
    assert list(client.list_custom_jobs(parent=PARENT)) == []


def case_jobs_are_refused_with_every_violation() -> None:
    for module in VERSIONS:
        error = refusal(
            exceptions.InvalidArgument,
            module.JobServiceClient().create_custom_job,
            parent=PARENT,
            custom_job={"display_name": "", "job_spec": {}},
        )
        (violations,) = error.details
        fields = [violation.field for violation in violations.field_violations]
        assert fields == ["displayName", "jobSpec.workerPoolSpecs"], fields
        assert error.message.startswith("displayName: required")


def case_a_job_is_created_cancelled_and_deleted() -> None:
    client = aiplatform_v1.JobServiceClient()
    spec = {"worker_pool_specs": [POOL], "scheduling": {"timeout": {"seconds": 600}}}
    job = client.create_custom_job(
        parent=PARENT,
        custom_job={"display_name": "over grpc", "job_spec": spec, "labels": {"team": "ads"}},
    )
    assert job.name.startswith(PARENT + "/customJobs/")
    assert job.job_spec.scheduling.timeout.seconds == 600
    assert job.labels == {"team": "ads"}
    assert job.create_time.timestamp() > 0
    found = client.list_custom_jobs(request={"parent": PARENT, "filter": "labels.team=ads"})
    assert [each.name for each in found] == [job.name]
    client.cancel_custom_job(name=job.name)
    deadline = time.monotonic() + LIMIT_S
    ended = (aiplatform_v1.JobState.JOB_STATE_CANCELLED, aiplatform_v1.JobState.JOB_STATE_FAILED)
    while client.get_custom_job(name=job.name).state not in ended:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    operation = client.delete_custom_job(name=job.name)
    operation.result(timeout=LIMIT_S)
    assert client.get_operation({"name": operation.operation.name}).done
    error = refusal(exceptions.NotFound, client.get_custom_job, name=job.name)
    assert error.message.endswith(" does not exist")


def case_a_pipeline_that_cannot_run_is_refused() -> None:
    client = aiplatform_v1.PipelineServiceClient()
    definition = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
    pipeline = {
        "display_name": "p",
        "training_task_definition": definition,
        "training_task_inputs": {"workerPoolSpecs": [{"x": None}]},
    }
    error = refusal(
        exceptions.InvalidArgument,
        client.create_training_pipeline,
        parent=PARENT,
        training_pipeline=pipeline,
    )
    assert "workerPoolSpecs[0]" in error.message, error.message
    assert list(client.list_training_pipelines(parent=PARENT)) == []


def case_a_model_is_uploaded_and_renamed() -> None:
    for module in VERSIONS:
        client = module.ModelServiceClient()
        model = {
            "display_name": "m",
            "artifact_uri": "gs://stage/model",
            "container_spec": {"image_uri": "example.invalid/serve:1"},
        }
        answer = client.upload_model(parent=PARENT, model=model).result(timeout=LIMIT_S)
        changed = client.update_model(
            model={"name": answer.model, "display_name": "renamed"},
            update_mask={"paths": ["display_name"]},
        )
        assert changed.display_name == "renamed"
        assert client.get_model(name=answer.model).artifact_uri == "gs://stage/model"
        client.delete_model(name=answer.model).result(timeout=LIMIT_S)


def case_a_study_is_searched() -> None:
    for module in VERSIONS:
        client = module.VizierServiceClient()
        study = client.create_study(
            parent=PARENT,
            study={"display_name": module.__name__, "study_spec": STUDY_SPEC},
        )
        suggested = client.suggest_trials(
            {"parent": study.name, "suggestion_count": 2, "client_id": "c"}
        ).result(timeout=LIMIT_S)
        assert len(suggested.trials) == 2
        for number, trial in enumerate(suggested.trials):
            metrics = [{"metric_id": "loss", "value": float(number)}]
            client.add_trial_measurement(
                {"trial_name": trial.name, "measurement": {"step_count": 1, "metrics": metrics}}
            )
            done = client.complete_trial({"name": trial.name})
            assert done.state == module.Trial.State.SUCCEEDED
            assert done.final_measurement.metrics[0].value == number
        best = client.list_optimal_trials({"parent": study.name}).optimal_trials
        assert [trial.name for trial in best] == [suggested.trials[0].name]
        client.delete_study(name=study.name)


def case_an_existing_study_is_already_exists() -> None:
    client = aiplatform_v1.VizierServiceClient()
    study = {"display_name": "twice", "study_spec": STUDY_SPEC}
    made = client.create_study(parent=PARENT, study=study)
    other = {**study, "study_spec": {**STUDY_SPEC, "algorithm": "ALGORITHM_UNSPECIFIED"}}
    refusal(exceptions.AlreadyExists, client.create_study, parent=PARENT, study=other)
    found = client.lookup_study({"parent": PARENT, "display_name": "twice"})
    assert found.name == made.name


def case_locations_are_listed() -> None:
    client = aiplatform_v1.JobServiceClient()
    found = client.list_locations({"name": "projects/demo"}).locations
    assert "us-central1" in [location.location_id for location in found]
    assert client.get_location({"name": PARENT}).name == PARENT


async def case_async_clients() -> None:
    for module in VERSIONS:
        client = module.JobServiceAsyncClient()
        assert client.transport.kind == "grpc_asyncio"
        found = await client.list_custom_jobs(parent=PARENT)
        assert [job.name async for job in found] == []
        try:
            await client.get_custom_job(name=PARENT + "/customJobs/5")
        except exceptions.NotFound:
            continue
        raise AssertionError("found")


def case_other_services_say_so() -> None:
    endpoints = aiplatform_v1.EndpointServiceClient()
    assert list(endpoints.list_endpoints(parent=PARENT)) == []
    name = f"{PARENT}/endpoints/1"
    error = refusal(exceptions.NotFound, endpoints.get_endpoint, name=name)
    assert f"{name} does not exist" in error.message, error.message
    error = refusal(
        exceptions.FailedPrecondition, endpoints.create_endpoint, parent=PARENT, endpoint={}
    )
    assert "has no endpoints" in error.message, error.message
    error = refusal(
        exceptions.FailedPrecondition,
        aiplatform_v1.TensorboardServiceClient().read_tensorboard_usage,
        tensorboard=f"{PARENT}/tensorboards/1",
    )
    assert "neither sizes nor readers" in error.message, error.message


def case_names_that_lead_elsewhere_are_refused() -> None:
    """An operation's name is no way to another resource."""
    client = aiplatform_v1.JobServiceClient()
    for call, name in (
        (client.get_custom_job, "customJobs/5"),
        (client.get_custom_job, PARENT + "/customJobs/5/../6"),
        (client.get_operation, PARENT + "/customJobs/5"),
        (client.delete_operation, PARENT + "/customJobs/5"),
    ):
        error = refusal(exceptions.InvalidArgument, call, {"name": name})
        assert error.message.startswith("name: '"), error.message
        assert "allowed: projects/*/locations/*" in error.message


def _channel(*options: tuple[str, str]) -> Any:
    pem = Path(os.environ["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"]).read_bytes()
    credentials = grpc.ssl_channel_credentials(pem)
    return grpc.secure_channel(os.environ["GRPC_ADDRESS"], credentials, options)


def case_bytes_that_are_no_message_are_refused() -> None:
    with _channel() as channel:
        error = raw(channel, JOBS + "ListCustomJobs", b"\xff\xff")
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
    assert "can't read the request as a ListCustomJobsRequest" in error.details()


def case_a_message_of_more_than_ten_mebibytes_is_refused() -> None:
    with _channel() as channel:
        error = raw(channel, JOBS + "ListCustomJobs", b"\0" * (11 << 20))
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, error


def case_a_long_message_arrives_cut() -> None:
    request = aiplatform_v1.GetCustomJobRequest(name="é" * 20_000)
    with _channel() as channel:
        content = aiplatform_v1.GetCustomJobRequest.serialize(request)
        error = raw(channel, JOBS + "GetCustomJob", content)
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
    assert error.details().startswith("name: 'éé")


def case_whom_the_certificate_does_not_name_is_not_reached() -> None:
    """Clients check the name; Google's are among those that it has."""
    for name, code in (
        ("us-central1-aiplatform.googleapis.com", grpc.StatusCode.UNIMPLEMENTED),
        ("example.com", grpc.StatusCode.UNAVAILABLE),
    ):
        with _channel(("grpc.ssl_target_name_override", name)) as channel:
            assert raw(channel, "/any/method", b"").code() == code


def case_clients_made_by_hand_reach_it() -> None:
    """At the gRPC port, whose certificate the variables name."""
    client = aiplatform_v1.JobServiceClient(
        credentials=AnonymousCredentials(),
        client_options=ClientOptions(api_endpoint=os.environ["GRPC_ADDRESS"]),
    )
    assert list(client.list_hyperparameter_tuning_jobs(parent=PARENT)) == []


def case_persistent_resources_over_both_transports() -> None:
    for number, (module, transport) in enumerate(
        (module, transport) for module in VERSIONS for transport in ("grpc", "rest")
    ):
        client = module.PersistentResourceServiceClient(transport=transport)
        name = f"{PARENT}/persistentResources/machines-{number}"
        pool = {"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1}
        operation = client.create_persistent_resource(
            parent=PARENT,
            persistent_resource={"display_name": "mine", "resource_pools": [pool]},
            persistent_resource_id=f"machines-{number}",
        )
        made = operation.result(timeout=LIMIT_S)
        assert (made.name, made.state.name) == (name, "RUNNING"), made
        (found,) = client.list_persistent_resources(parent=PARENT)
        assert found == client.get_persistent_resource(name=name) == made
        change = {"name": name, "labels": {"team": "a"}}
        operation = client.update_persistent_resource(
            persistent_resource=change, update_mask={"paths": ["labels"]}
        )
        assert dict(operation.result(timeout=LIMIT_S).labels) == {"team": "a"}
        jobs = module.JobServiceClient(transport=transport)
        spec = {"worker_pool_specs": [POOL], "persistent_resource_id": f"machines-{number}"}
        job = jobs.create_custom_job(
            parent=PARENT, custom_job={"display_name": "on it", "job_spec": spec}
        )
        assert job.job_spec.persistent_resource_id == f"machines-{number}"
        spec["persistent_resource_id"] = "nobodys"
        error = refusal(
            exceptions.BadRequest,
            jobs.create_custom_job,
            parent=PARENT,
            custom_job={"display_name": "on none", "job_spec": spec},
        )
        assert "jobSpec.persistentResourceId: 'nobodys' given" in error.message, error
        client.delete_persistent_resource(name=name).result(timeout=LIMIT_S)
        refusal(exceptions.NotFound, client.get_persistent_resource, name=name)
        assert jobs.get_custom_job(name=job.name).state.name == "JOB_STATE_CANCELLED"


def case_a_persistent_resource_reboots() -> None:
    client = aiplatform_v1.PersistentResourceServiceClient()
    pool = {"machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1}
    made = client.create_persistent_resource(
        parent=PARENT,
        persistent_resource={"resource_pools": [pool]},
        persistent_resource_id="rebooted",
    ).result(timeout=LIMIT_S)
    again = client.reboot_persistent_resource(name=made.name).result(timeout=LIMIT_S)
    assert again.state.name == "RUNNING"
    client.delete_persistent_resource(name=made.name).result(timeout=LIMIT_S)
