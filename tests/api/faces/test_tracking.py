"""Metadata stores and TensorBoards over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.api.app import create_app
from footplate.api.security import Access
from footplate.api.vertex_v1 import dataset_routes, tracking_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.control.datasets import Datasets
from footplate.store import open_store
from tests.api.faces.conftest import Switch
from tests.support.clock import FakeClock
from tests.support.jobs import CREATED
from tests.support.vizier import CountingIds

P = "projects/demo/locations/us-central1"
STORE = f"{P}/metadataStores/default"
TYPES = "type.googleapis.com/google.cloud.aiplatform.v1."


@pytest.fixture
def http(switch: Switch, tmp_path: Path) -> Iterator[httpx.Client]:
    clock, ids, catalogue = FakeClock(CREATED), CountingIds(), load_catalogue()
    buckets = FolderBuckets(tmp_path / "buckets", clock)
    with closing(open_store(f"sqlite:///{tmp_path}/footplate.db")) as store:
        datasets = Datasets(store.tracking, buckets, clock)
        routes = [
            *tracking_routes(store.tracking, clock, ids, catalogue, buckets),
            *dataset_routes(store.tracking, datasets, clock, ids, catalogue),
        ]
        switch.app = create_app(routes, Access(), new_id=lambda: "c0ffee")
        with httpx.Client(base_url=switch.url) as client:
            yield client


def post(http: httpx.Client, path: str, **body: object) -> dict[str, Any]:
    answer = http.post(f"/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


def get(http: httpx.Client, path: str) -> dict[str, Any]:
    answer = http.get(f"/v1/{path}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def error(response: httpx.Response) -> tuple[str, str]:
    found = response.json()["error"]
    return found["status"], found["message"]


def board(http: httpx.Client, **fields: object) -> str:
    operation = post(http, f"{P}/tensorboards", displayName="b", **fields)
    assert operation["done"] is True
    name: str = operation["response"]["name"]
    return name


def series(http: httpx.Client) -> tuple[str, str]:
    """The names of a run, and of a time series of it."""
    experiment = f"{board(http)}/experiments"
    post(http, f"{experiment}?tensorboardExperimentId=e")
    run = post(http, f"{experiment}/e/runs?tensorboard_run_id=r", displayName="r")["name"]
    made = post(http, f"{run}/timeSeries", displayName="loss", valueType=1)
    assert made["valueType"] == "SCALAR"
    return run, made["name"]


# Resources -------------------------------------------------------------------------------------


def test_a_metadata_store_and_its_operations(http: httpx.Client) -> None:
    operation = post(http, f"{P}/metadataStores?metadataStoreId=mine")
    assert operation["metadata"]["@type"] == f"{TYPES}CreateMetadataStoreOperationMetadata"
    assert operation["response"]["@type"] == f"{TYPES}MetadataStore"
    store = get(http, f"{P}/metadataStores/mine")
    assert (store["name"], "etag" in store) == (f"{P}/metadataStores/mine", False)
    for prefix in ("ui", "v1", "v1beta1"):
        assert http.get(f"/{prefix}/{operation['name']}").json() == operation
    assert get(http, f"{P}/metadataStores") == {"metadataStores": [store]}
    assert http.post(f"/v1/{P}/metadataStores?metadataStoreId=mine").status_code == 409
    deletion = http.delete(f"/v1/{P}/metadataStores/mine").json()
    assert deletion["metadata"]["@type"] == f"{TYPES}DeleteMetadataStoreOperationMetadata"
    assert get(http, deletion["name"]) == deletion
    assert http.get(f"/v1/{operation['name']}").status_code == 404
    assert http.post(f"/v1/{deletion['name']}:cancel").json() == {}


@pytest.mark.parametrize("kind", ["contexts", "artifacts", "executions"])
@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_nodes(http: httpx.Client, kind: str, version: str) -> None:
    url = f"/{version}/{STORE}/{kind}"
    fields = {
        "displayName": "n",
        "schemaTitle": "system.X",
        "metadata": {"a": 1.5, "b": None, "c": [{}]},
        "labels": {"team": "a"},
    }
    made = http.post(f"{url}?{kind[:-1]}Id=n-1", json={**fields, "name": "x", "etag": "7"}).json()
    assert {key: made[key] for key in fields} == fields
    assert (made["name"], made["etag"]) == (f"{STORE}/{kind}/n-1", "0000000001")
    assert http.get(f"{url}/n-1").json() == made
    assert http.get(f"{url}?filter=schema_title=system.X").json() == {kind: [made]}
    assert http.get(f"{url}?filter=schema_title=other").json() == {}
    changed = http.patch(f"{url}/n-1", json={**made, "metadata": {"z": "y"}}).json()
    assert (changed["metadata"], changed["etag"]) == ({"z": "y"}, "0000000002")
    assert changed["displayName"] == "n"
    stale = http.patch(f"{url}/n-1", json=made)
    assert (stale.status_code, error(stale)[0]) == (409, "ABORTED")
    cleared = http.patch(f"{url}/n-1?updateMask=display_name,labels", json={}).json()
    assert not {"displayName", "labels"} & cleared.keys()
    assert http.patch(f"{url}/n-2", json={"displayName": "m"}).status_code == 404
    missing = http.patch(f"{url}/n-2?allowMissing=true", json={"displayName": "m"}).json()
    assert (missing["displayName"], missing["metadata"]) == ("m", {})
    assert error(http.delete(f"{url}/n-1?etag=1"))[0] == "ABORTED"
    deletion = http.delete(f"{url}/n-1").json()
    assert deletion["metadata"]["@type"].endswith(f"{version}.DeleteOperationMetadata")
    assert http.get(f"{url}/n-1").status_code == 404
    own_id = http.post(url, json={}).json()["name"].rpartition("/")[2]
    assert own_id.isdigit()


def test_lists_come_in_pages_of_one_filter(http: httpx.Client) -> None:
    for number in range(3):
        post(http, f"{STORE}/contexts?contextId=c{number}", displayName=f"n{number}")
    first = get(http, f"{STORE}/contexts?pageSize=2&orderBy=create_time")
    assert [each["displayName"] for each in first["contexts"]] == ["n0", "n1"]
    token = first["nextPageToken"]
    rest = get(http, f"{STORE}/contexts?pageToken={token}&orderBy=create_time")
    assert [each["displayName"] for each in rest["contexts"]] == ["n2"]
    wrong = http.get(f"/v1/{STORE}/contexts?pageToken={token}")
    assert error(wrong)[1].startswith("pageToken: ")


def test_one_tensorboard_is_the_default(http: httpx.Client) -> None:
    first, second = board(http, isDefault=True), board(http, isDefault=True)
    found = get(http, f"{P}/tensorboards?filter=is_default=true")["tensorboards"]
    assert [each["name"] for each in found] == [second]
    answer = http.patch(f"/v1/{first}?updateMask=isDefault", json={"isDefault": True}).json()
    assert answer["metadata"]["@type"] == f"{TYPES}UpdateTensorboardOperationMetadata"
    assert answer["response"]["isDefault"] is True
    found = get(http, f"{P}/tensorboards?filter=is_default=true")["tensorboards"]
    assert [each["name"] for each in found] == [first]


@pytest.mark.parametrize(
    ("url", "body", "field"),
    [
        (f"{STORE}/contexts?contextId=A_b", {}, "contextId"),
        (f"{STORE}/contexts", {"displayName": "x" * 129}, "displayName"),
        (f"{STORE}/contexts", {"labels": {"A": "b"}}, "labels"),
        (f"{STORE}/contexts", {"metadata": 1}, "metadata"),
        (f"{STORE}/executions", {"state": "DONE"}, "state"),
        (f"{P}/tensorboards", {}, "displayName"),
        (f"{P}/tensorboards?tensorboardId=1", {"displayName": "b"}, "tensorboardId"),
        (f"{P}/tensorboards/1/experiments/e/runs", {}, "displayName"),
        (
            f"{P}/tensorboards/1/experiments/e/runs/r/timeSeries",
            {"displayName": "n", "valueType": "VALUE_TYPE_UNSPECIFIED"},
            "valueType",
        ),
        ("projects/demo/locations/moon/metadataStores", {}, "parent"),
    ],
)
def test_bad_resources(http: httpx.Client, url: str, body: dict[str, Any], field: str) -> None:
    answer = http.post(f"/v1/{url}", json=body)
    assert answer.status_code == 400, answer.text
    found = answer.json()["error"]["details"][0]["fieldViolations"]
    assert [violation["field"] for violation in found] == [field]


def test_what_a_resource_is_in_has_to_exist(http: httpx.Client) -> None:
    missing = http.post(f"/v1/{P}/metadataStores/other/contexts", json={})
    assert (missing.status_code, error(missing)[1]) == (
        404,
        f"{P}/metadataStores/other does not exist",
    )
    assert get(http, f"{P}/tensorboards/1/experiments/e/runs") == {}


def test_patches_name_fields_that_can_be_set(http: httpx.Client) -> None:
    post(http, f"{STORE}/contexts?contextId=c")
    wrong = http.patch(f"/v1/{STORE}/contexts/c?updateMask=schemaTitle", json={})
    assert error(wrong)[1].startswith('updateMask: "schemaTitle" given; allowed: displayName, ')


# Links -----------------------------------------------------------------------------------------


def test_contexts_have_children_and_members(http: httpx.Client) -> None:
    parent, child = (
        post(http, f"{STORE}/contexts?contextId={own_id}")["name"] for own_id in ("p", "c")
    )
    artifact = post(http, f"{STORE}/artifacts?artifactId=a", uri="gs://b/x", state="LIVE")["name"]
    execution = post(http, f"{STORE}/executions?executionId=e")["name"]
    assert post(http, f"{parent}:addContextChildren", childContexts=[child]) == {}
    assert get(http, child)["parentContexts"] == [parent]
    found = get(http, f'{STORE}/contexts?filter=parent_contexts:"{parent}"')["contexts"]
    assert [each["name"] for each in found] == [child]
    members = {"artifacts": [artifact], "executions": [execution]}
    for _ in range(2):
        post(http, f"{child}:addContextArtifactsAndExecutions", **members)
    events = [{"artifact": artifact, "type": "INPUT", "labels": {"a": "b"}}]
    for kind in (events, [{**events[0], "type": 2, "execution": execution}]):
        post(http, f"{execution}:addExecutionEvents", events=kind)
    graphs = [
        get(http, f"{child}:queryContextLineageSubgraph"),
        get(http, f"{execution}:queryExecutionInputsAndOutputs"),
        get(http, f"{artifact}:queryArtifactLineageSubgraph?maxHops=1"),
    ]
    assert graphs[0] == graphs[1] == graphs[2]
    assert [each["name"] for each in graphs[0]["artifacts"]] == [artifact]
    assert [each["name"] for each in graphs[0]["executions"]] == [execution]
    (event,) = graphs[0]["events"]
    assert (event["type"], event["labels"], event["execution"]) == ("INPUT", {"a": "b"}, execution)
    found = get(http, f'{STORE}/artifacts?filter=in_context("{child}")')["artifacts"]
    assert [each["uri"] for each in found] == ["gs://b/x"]
    post(http, f"{parent}:removeContextChildren", childContexts=[child])
    assert "parentContexts" not in get(http, child)
    again = http.post(f"/v1/{parent}:removeContextChildren", json={"childContexts": [child]})
    code, message = error(again)
    assert code == "FAILED_PRECONDITION"
    assert f"{child} is not a child of context {parent}" in message


def test_lineage_is_followed_as_far_as_asked(http: httpx.Client) -> None:
    first, second = (
        post(http, f"{STORE}/artifacts?artifactId={own_id}")["name"] for own_id in ("a", "b")
    )
    execution = post(http, f"{STORE}/executions?executionId=e")["name"]
    events = [{"artifact": first, "type": "INPUT"}, {"artifact": second, "type": "OUTPUT"}]
    post(http, f"{execution}:addExecutionEvents", events=events)
    sizes = []
    for hops in (1, 2, 0, -1):
        graph = get(http, f"{first}:queryArtifactLineageSubgraph?maxHops={hops}")
        sizes.append((len(graph["artifacts"]), len(graph["executions"]), len(graph["events"])))
    assert sizes == [(1, 1, 1), (2, 1, 2), (2, 1, 2), (2, 1, 2)]


def test_bad_links(http: httpx.Client) -> None:
    contexts = [post(http, f"{STORE}/contexts?contextId=c{n}")["name"] for n in range(13)]
    execution = post(http, f"{STORE}/executions?executionId=e")["name"]
    post(http, f"{contexts[0]}:addContextChildren", childContexts=[contexts[1]])
    post(http, f"{contexts[1]}:addContextChildren", childContexts=[contexts[2]])
    for parent in contexts[2:11]:
        post(http, f"{parent}:addContextChildren", childContexts=[contexts[12]])
    post(http, f"{contexts[0]}:addContextChildren", childContexts=[contexts[12]])
    for url, body, said in (
        (f"{contexts[2]}:addContextChildren", {"childContexts": [contexts[0]]}, "childContexts: "),
        (
            f"{contexts[11]}:addContextChildren",
            {"childContexts": [contexts[12]]},
            f"childContexts: {contexts[12]} given, which is in 10 contexts",
        ),
        (f"{contexts[0]}:addContextChildren", {"childContexts": ["x"]}, "childContexts[0]: "),
        (
            f"{contexts[0]}:addContextArtifactsAndExecutions",
            {"artifacts": [contexts[1]]},
            "artifacts[0]: ",
        ),
        (f"{execution}:addExecutionEvents", {"events": [{"artifact": "x"}]}, "events[0].type: "),
    ):
        answer = http.post(f"/v1/{url}", json=body)
        assert (answer.status_code, error(answer)[1][: len(said)]) == (400, said)
    missing = {"events": [{"artifact": f"{STORE}/artifacts/no", "type": "INPUT"}]}
    answer = http.post(f"/v1/{execution}:addExecutionEvents", json=missing)
    assert error(answer) == ("NOT_FOUND", f"{STORE}/artifacts/no does not exist")
    strange = http.post(f"/v1/{STORE}/contexts/no:addContextChildren", json={})
    assert strange.status_code == 404


# Time series -----------------------------------------------------------------------------------


def data(name: str, *points: dict[str, Any], kind: object = "SCALAR") -> dict[str, Any]:
    own_id = name.rpartition("/")[2]
    return {"tensorboardTimeSeriesId": own_id, "valueType": kind, "values": [*points]}


def test_points_are_written_and_read(http: httpx.Client) -> None:
    run, name = series(http)
    points: list[dict[str, Any]] = [
        {"step": "1", "wallTime": "2026-01-31T12:00:00Z", "scalar": {"value": 0.5}},
        {"step": 2, "scalar": {"value": "NaN"}},
        {"step": 3, "scalar": {}},
    ]
    assert post(http, f"{run}:write", timeSeriesData=[data(name, *points)]) == {}
    found = get(http, f"{name}:read")["timeSeriesData"]
    values = [point["scalar"]["value"] for point in found["values"]]
    assert (values, found["valueType"]) == ([0.5, "NaN", 0.0], "SCALAR")
    assert found["values"][0]["wallTime"] == "2026-01-31T12:00:00.000000Z"
    tensorboard, experiment = run.partition("/experiments")[0], run.partition("/runs")[0]
    query = f"timeSeries={name}&timeSeries={name}"
    assert get(http, f"{tensorboard}:batchRead?{query}") == {"timeSeriesData": [found]}
    requests = [{"tensorboardRun": run, "timeSeriesData": [data(name, points[0] | {"step": 9})]}]
    post(http, f"{experiment}:write", writeRunDataRequests=requests)
    assert get(http, name)["metadata"] == {
        "maxStep": "9",
        "maxWallTime": "2026-01-31T12:00:00.000000Z",
    }
    sample = get(http, f"{name}:read?maxDataPoints=2")["timeSeriesData"]["values"]
    assert [point["step"] for point in sample] == ["2", "9"]
    pages: list[list[str]] = []
    token = ""
    while not pages or token:
        page = post(http, f"{name}:exportTensorboardTimeSeries", pageSize=3, pageToken=token)
        pages.append([point["step"] for point in page["timeSeriesDataPoints"]])
        token = page.get("nextPageToken", "")
    assert pages == [["1", "2", "3"], ["9"]]


def test_tensors_are_kept_as_they_are(http: httpx.Client) -> None:
    run, _ = series(http)
    name = post(http, f"{run}/timeSeries", displayName="t", valueType="TENSOR")["name"]
    point = {"step": "1", "tensor": {"value": "AAEC", "versionNumber": 1}}
    post(http, f"{run}:write", timeSeriesData=[data(name, point, kind=2)])
    (found,) = get(http, f"{name}:read")["timeSeriesData"]["values"]
    assert found["tensor"] == point["tensor"]


def test_blobs_are_ids_of_objects_in_a_bucket_of_the_project(
    http: httpx.Client, tmp_path: Path
) -> None:
    run, _ = series(http)
    tensorboard = run.partition("/experiments")[0]
    bucket = get(http, tensorboard)["blobStoragePathPrefix"]
    found = FolderBuckets(tmp_path / "buckets", FakeClock(CREATED)).buckets()
    assert [(each.name, each.project) for each in found] == [(bucket, "demo")]
    board(http)  # the bucket is there

    name = post(http, f"{run}/timeSeries", displayName="g", valueType="BLOB_SEQUENCE")["name"]
    blobs = [{"id": "b-1"}, {"id": "b-2", "data": "AAEC"}]
    point = {"step": "1", "blobs": {"values": blobs}}
    post(http, f"{run}:write", timeSeriesData=[data(name, point, kind="BLOB_SEQUENCE")])
    (written,) = get(http, f"{name}:read")["timeSeriesData"]["values"]
    assert written["blobs"] == {"values": [{"id": "b-1"}, {"id": "b-2"}]}


def test_many_are_created_at_once(http: httpx.Client) -> None:
    run, _ = series(http)
    experiment = run.partition("/runs")[0]
    runs = [{"parent": experiment, "tensorboardRun": {"displayName": n}} for n in ("a", "b")]
    runs[0]["tensorboardRunId"] = "a-1"
    made = post(http, f"{experiment}/runs:batchCreate", requests=runs)["tensorboardRuns"]
    assert [each["displayName"] for each in made] == ["a", "b"]
    assert made[0]["name"] == f"{experiment}/runs/a-1"
    fields = {"displayName": "x", "valueType": "SCALAR"}
    asked = [{"parent": each["name"], "tensorboardTimeSeries": fields} for each in made]
    many = post(http, f"{experiment}:batchCreate", requests=asked)["tensorboardTimeSeries"]
    assert [each["name"].rpartition("/timeSeries")[0] for each in many] == [
        each["name"] for each in made
    ]
    again = http.post(f"/v1/{experiment}:batchCreate", json={"requests": asked[:1]})
    assert error(again)[0] == "ALREADY_EXISTS"
    for body, field in (
        ({"requests": []}, "requests"),
        ({"requests": [{"parent": P, "tensorboardTimeSeries": fields}]}, "requests[0].parent"),
        ({"requests": [{"tensorboardTimeSeries": fields}]}, "requests[0].parent"),
        (
            {"requests": [{"parent": run, "tensorboardTimeSeries": {"displayName": "y"}}]},
            "requests[0].tensorboardTimeSeries.valueType",
        ),
    ):
        answer = http.post(f"/v1/{experiment}:batchCreate", json=body)
        assert error(answer)[1].startswith(f"{field}: "), answer.text


def test_bad_points(http: httpx.Client) -> None:
    run, name = series(http)
    good = {"step": 1, "scalar": {"value": 1}}
    for one, field in (
        (data("x/", good), "timeSeriesData[0].tensorboardTimeSeriesId"),
        (data(name, good, kind=None), "timeSeriesData[0].valueType"),
        (data(name, good, kind="TENSOR"), "timeSeriesData[0].values[0]"),
        (data(name, {"step": 1}), "timeSeriesData[0].values[0]"),
        (data(name, {**good, "step": -1}), "timeSeriesData[0].values[0].step"),
        (data(name, {**good, "wallTime": "x"}), "timeSeriesData[0].values[0].wallTime"),
    ):
        answer = http.post(f"/v1/{run}:write", json={"timeSeriesData": [one]})
        assert (answer.status_code, error(answer)[1].partition(": ")[0]) == (400, field)
    tensor = data(name, {"step": 1, "tensor": {"value": "AA=="}}, kind="TENSOR")
    answer = http.post(f"/v1/{run}:write", json={"timeSeriesData": [tensor]})
    assert error(answer)[1].startswith("timeSeriesData.valueType: TENSOR given for ")
    answer = http.post(f"/v1/{run}:write", json={"timeSeriesData": [data("x/no", good)]})
    assert error(answer) == ("NOT_FOUND", f"{run}/timeSeries/no does not exist")
    experiment = run.partition("/runs")[0]
    other = {"writeRunDataRequests": [{"tensorboardRun": f"{experiment}2/runs/r"}]}
    answer = http.post(f"/v1/{experiment}:write", json=other)
    assert error(answer)[1].startswith("writeRunDataRequests[0].tensorboardRun: ")
    tensorboard = run.partition("/experiments")[0]
    for query, field in (
        (f"{name}:read?maxDataPoints=0", "maxDataPoints"),
        (f"{name}:read?filter=x", "filter"),
        (f"{tensorboard}:batchRead", "timeSeries"),
        (f"{tensorboard}:batchRead?timeSeries={run}", "timeSeries[0]"),
    ):
        answer = http.get(f"/v1/{query}")
        assert error(answer)[1].startswith(f"{field}: "), answer.text
    assert "values" not in get(http, f"{name}:read?maxDataPoints=-1")["timeSeriesData"]
