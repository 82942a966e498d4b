"""Requests and answers by Google's HTTP rules."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl

import pytest
from google.cloud import aiplatform_v1
from google.longrunning import operations_pb2
from google.rpc import error_details_pb2, status_pb2

from footplate.domain.errors import Code, Internal, InvalidArgument
from footplate.grpc_api.schema import Method, Schema, load_schema
from footplate.grpc_api.transcoding import MAX_DETAILS_BYTES, MAX_MESSAGE_BYTES, Transcoder

PARENT = "projects/p/locations/l"
V1 = "/google.cloud.aiplatform.v1"


@pytest.fixture(scope="module")
def schema() -> Schema:
    return load_schema()


@pytest.fixture(scope="module")
def transcoder(schema: Schema) -> Transcoder:
    return Transcoder(schema)


def named(schema: Schema, name: str) -> Method:
    return schema.methods[f"{V1}.{name}"]


def test_a_field_is_the_body(transcoder: Transcoder, schema: Schema) -> None:
    message = aiplatform_v1.CreateCustomJobRequest(
        parent=PARENT, custom_job={"display_name": "é", "labels": {"a_b": "c"}}
    )
    content = aiplatform_v1.CreateCustomJobRequest.serialize(message)

    request = transcoder.request(named(schema, "JobService/CreateCustomJob"), content)

    assert (request.verb, request.path) == ("POST", f"/v1/{PARENT}/customJobs")
    assert request.query == b""
    assert json.loads(request.body or b"") == {"displayName": "é", "labels": {"a_b": "c"}}


def test_the_rest_is_the_body(transcoder: Transcoder, schema: Schema) -> None:
    name = f"{PARENT}/studies/1/trials/2"
    message = aiplatform_v1.CompleteTrialRequest(
        name=name, trial_infeasible=True, infeasible_reason="slow"
    )
    content = aiplatform_v1.CompleteTrialRequest.serialize(message)

    request = transcoder.request(named(schema, "VizierService/CompleteTrial"), content)

    assert request.path == f"/v1/{name}:complete"
    assert json.loads(request.body or b"") == {"trialInfeasible": True, "infeasibleReason": "slow"}


def test_the_rest_is_the_query(transcoder: Transcoder, schema: Schema) -> None:
    message = aiplatform_v1.ListModelsRequest(
        parent=PARENT, filter='a="b&c"', page_size=5, read_mask={"paths": ["display_name", "name"]}
    )
    content = aiplatform_v1.ListModelsRequest.serialize(message)

    request = transcoder.request(named(schema, "ModelService/ListModels"), content)

    assert (request.verb, request.body) == ("GET", None)
    assert dict(parse_qsl(request.query.decode())) == {
        "filter": 'a="b&c"',
        "pageSize": "5",
        "readMask": "displayName,name",
    }


def test_a_name_within_the_body_is_in_the_path(transcoder: Transcoder, schema: Schema) -> None:
    message = aiplatform_v1.UpdateModelRequest(
        model={"name": f"{PARENT}/models/5", "display_name": "d"},
        update_mask={"paths": ["display_name"]},
    )
    content = aiplatform_v1.UpdateModelRequest.serialize(message)

    request = transcoder.request(named(schema, "ModelService/UpdateModel"), content)

    assert (request.verb, request.path) == ("PATCH", f"/v1/{PARENT}/models/5")
    assert json.loads(request.body or b"") == {"displayName": "d"}
    assert request.query == b"updateMask=displayName"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("displayName", "displayName"),
        ("version_description", "versionDescription"),
        ("labels.a-1", "labels.a-1"),
        ("labels.A", "labels.A"),
    ],
)
def test_a_mask_may_name_fields_as_json_does(
    transcoder: Transcoder, schema: Schema, path: str, expected: str
) -> None:
    message = aiplatform_v1.UpdateModelRequest(
        model={"name": f"{PARENT}/models/5"}, update_mask={"paths": [path, "labels"]}
    )
    content = aiplatform_v1.UpdateModelRequest.serialize(message)

    request = transcoder.request(named(schema, "ModelService/UpdateModel"), content)

    assert dict(parse_qsl(request.query.decode())) == {"updateMask": f"{expected},labels"}


@pytest.mark.parametrize(
    "name",
    [
        "",
        "x",
        f"{PARENT}/customJobs/5",
        f"{PARENT}/operations/",
        f"{PARENT}//operations/5",
        f"{PARENT}/operations/5/customJobs/6",
        f"/{PARENT}/operations/5",
    ],
)
def test_an_operations_name_leads_to_nothing_else(
    transcoder: Transcoder, schema: Schema, name: str
) -> None:
    content = operations_pb2.GetOperationRequest(name=name).SerializeToString()
    method = schema.methods["/google.longrunning.Operations/GetOperation"]
    with pytest.raises(InvalidArgument) as caught:
        transcoder.request(method, content)
    assert caught.value.violations[0].field == "name"


def test_bytes_that_are_no_message_are_refused(transcoder: Transcoder, schema: Schema) -> None:
    with pytest.raises(InvalidArgument, match="can't read the request as a ListModelsRequest"):
        transcoder.request(named(schema, "ModelService/ListModels"), b"\xff")


def test_fields_of_ours_are_left_out_of_answers(transcoder: Transcoder, schema: Schema) -> None:
    answer = {"displayName": "d", "state": "JOB_STATE_QUEUED", "pendingExplanation": "waits"}
    content = transcoder.answer(
        named(schema, "JobService/GetCustomJob"), json.dumps(answer).encode()
    )
    job = aiplatform_v1.CustomJob.deserialize(content)
    assert (job.display_name, job.state.name) == ("d", "JOB_STATE_QUEUED")


def test_an_operation_holds_its_result(transcoder: Transcoder, schema: Schema) -> None:
    kind = "type.googleapis.com/google.cloud.aiplatform.v1.UploadModelResponse"
    answer = {"name": "o", "done": True, "response": {"@type": kind, "model": "m"}}
    method = schema.methods["/google.longrunning.Operations/GetOperation"]
    operation = operations_pb2.Operation.FromString(
        transcoder.answer(method, json.dumps(answer).encode())
    )
    found = aiplatform_v1.UploadModelResponse.pb()()
    assert operation.response.Unpack(found)
    assert found.model == "m"


def test_an_answer_that_is_no_message_is_internal(transcoder: Transcoder, schema: Schema) -> None:
    for content in (b"<html>", b'{"displayName": 5}'):
        with pytest.raises(Internal):
            transcoder.answer(named(schema, "JobService/GetCustomJob"), content)


def error(message: str, *violations: tuple[str, str]) -> bytes:
    given = [{"field": field, "description": text} for field, text in violations]
    kind = "type.googleapis.com/google.rpc.BadRequest"
    details = [{"@type": kind, "fieldViolations": given}] if given else []
    answer = {"status": "INVALID_ARGUMENT", "message": message, "details": details}
    return json.dumps({"error": answer}).encode()


def test_an_error_has_its_code_message_and_details(transcoder: Transcoder) -> None:
    failure = transcoder.failure(error("a: b", ("a", "b")))
    assert (failure.code, failure.message) == (Code.INVALID_ARGUMENT, "a: b")
    status = status_pb2.Status.FromString(failure.details)
    assert (status.code, status.message) == (3, "a: b")
    found = error_details_pb2.BadRequest()
    assert status.details[0].Unpack(found)
    assert found.field_violations[0].field == "a"


def test_a_long_error_is_cut(transcoder: Transcoder) -> None:
    """The clients compare both messages, and refuse long trailers."""
    failure = transcoder.failure(error("é" * 20_000, ("a", "b" * 20_000)))
    status = status_pb2.Status.FromString(failure.details)
    assert failure.message == status.message
    assert len(failure.message) == MAX_MESSAGE_BYTES // 6 + len("...")
    assert len(failure.details) <= MAX_DETAILS_BYTES
    assert list(status.details) == []


def test_an_answer_that_is_no_error_of_ours_is_unknown(transcoder: Transcoder) -> None:
    for content in (b"", b"<html>", b'{"error": 5}', b'{"error": {"status": "NOPE"}}'):
        assert transcoder.failure(content).code == Code.UNKNOWN
