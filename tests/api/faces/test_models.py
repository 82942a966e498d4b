"""The model registry over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.models import MemoryFiles

if TYPE_CHECKING:
    import httpx

P = "projects/demo/locations/us-central1"
URL = f"/v1/{P}/models"
MODEL = {
    "displayName": "m",
    "containerSpec": {"imageUri": "serve:1", "ports": [{"containerPort": 8080}]},
    "artifactUri": "gs://b/model/",
    "labels": {"team": "a"},
}


def upload(http: httpx.Client, **more: object) -> dict[str, Any]:
    answer = http.post(f"{URL}:upload", json={"model": MODEL, **more})
    assert answer.status_code == 200, answer.text
    operation: dict[str, Any] = answer.json()
    assert operation["done"] is True
    return operation


def fields(response: httpx.Response) -> list[str]:
    assert response.status_code == 400, response.text
    return [v["field"] for v in response.json()["error"]["details"][0]["fieldViolations"]]


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_upload_get_list_delete(http: httpx.Client, version: str) -> None:
    url = f"/{version}/{P}/models"
    operation = http.post(f"{url}:upload", json={"model": MODEL, "modelId": "mine"}).json()
    kind = f"type.googleapis.com/google.cloud.aiplatform.{version}.UploadModelResponse"
    response = {"@type": kind, "model": f"{P}/models/mine", "modelVersionId": "1"}
    assert operation["response"] == response
    model = http.get(f"{url}/mine").json()
    assert model["name"] == f"{P}/models/mine"
    assert {key: model[key] for key in MODEL} == MODEL
    assert (model["versionId"], model["versionAliases"]) == ("1", ["default"])
    assert model["supportedExportFormats"][0]["exportableContents"] == ["ARTIFACT"]
    assert http.get(url).json() == {"models": [model]}
    for prefix in ("ui", "v1", "v1beta1"):
        assert http.get(f"/{prefix}/{operation['name']}").json() == operation
    deletion = http.delete(f"{url}/mine").json()
    assert http.get(f"{url}/mine").status_code == 404
    assert http.get(f"/{version}/{deletion['name']}").json() == deletion


def test_versions_and_aliases(http: httpx.Client) -> None:
    name = upload(http)["response"]["model"]
    second = {"model": {**MODEL, "versionAliases": ["best"]}, "parentModel": name}
    assert http.post(f"{URL}:upload", json=second).json()["response"]["modelVersionId"] == "2"
    listed = http.get(f"/v1/{name}:listVersions").json()["models"]
    assert [(each["name"], each["versionAliases"]) for each in listed] == [
        (f"{name}@1", ["default"]),
        (f"{name}@2", ["best"]),
    ]
    changes = {"versionAliases": ["default", "-best"]}
    merged = http.post(f"/v1/{name}@best:mergeVersionAliases", json=changes).json()
    assert (merged["name"], merged["versionAliases"]) == (f"{name}@2", ["default"])
    assert http.get(f"/v1/{name}").json()["versionId"] == "2"
    refused = http.delete(f"/v1/{name}@2:deleteVersion").json()["error"]
    assert refused["status"] == "FAILED_PRECONDITION"
    deleted = http.delete(f"/v1/{name}@1:deleteVersion").json()
    assert http.get(f"/v1/{deleted['name']}").json() == deleted
    assert http.get(f"/v1/{name}@1").status_code == 404


def test_a_patch_changes_what_its_mask_names(http: httpx.Client) -> None:
    name = upload(http)["response"]["model"]
    change = {"displayName": "n", "description": "d", "labels": {"x": "y"}}
    params = {"updateMask": "description,labels"}
    patched = http.patch(f"/v1/{name}", json=change, params=params).json()
    assert (patched["displayName"], patched["description"]) == ("m", "d")
    assert patched["labels"] == {"x": "y"}
    wrong = http.patch(f"/v1/{name}", json=change, params={"updateMask": "artifactUri"})
    assert fields(wrong) == ["updateMask"]
    wrong = http.patch(f"/v1/{name}", json={}, params={"updateMask": "display_name"})
    assert fields(wrong) == ["model.displayName"]


def test_lists_are_filtered(http: httpx.Client) -> None:
    for name in ("one", "two"):
        upload(http, model={**MODEL, "displayName": name}, modelId=name)
    found = http.get(URL, params={"filter": 'display_name="two" AND labels.team=a'}).json()
    assert [model["displayName"] for model in found["models"]] == ["two"]
    page = http.get(URL, params={"pageSize": "1"}).json()
    rest = http.get(URL, params={"pageToken": page["nextPageToken"]}).json()
    assert len(page["models"]) == len(rest["models"]) == 1
    assert fields(http.get(URL, params={"pageToken": "x"})) == ["pageToken"]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("display_name", ["b", "m", "z"]),
        ("displayName desc", ["z", "m", "b"]),
        ("create_time", ["m", "z", "b"]),
        ("update_time desc", ["m", "b", "z"]),
        ("createTime desc, display_name", ["b", "z", "m"]),
    ],
)
def test_lists_are_ordered(http: httpx.Client, order: str, expected: list[str]) -> None:
    names = [
        upload(http, model={**MODEL, "displayName": name})["response"]["model"] for name in "mzb"
    ]
    change = {"description": "d"}
    http.patch(f"/v1/{names[0]}", json=change, params={"updateMask": "description"})
    first = http.get(URL, params={"orderBy": order, "pageSize": "2"}).json()
    params = {"order_by": order, "pageToken": first["nextPageToken"]}
    second = http.get(URL, params=params).json()
    found = [model["displayName"] for model in (*first["models"], *second["models"])]
    assert found == expected
    assert "nextPageToken" not in second
    assert fields(http.get(URL, params={"orderBy": "etag"})) == ["orderBy"]
    assert fields(http.get(URL, params={"pageToken": first["nextPageToken"]})) == ["pageToken"]


def test_versions_are_ordered(http: httpx.Client) -> None:
    name = upload(http)["response"]["model"]
    upload(http, parentModel=name)

    def listed(order: str) -> list[str]:
        answer = http.get(f"/v1/{name}:listVersions", params={"orderBy": order})
        return [each["versionId"] for each in answer.json()["models"]]

    assert listed("") == listed("create_time") == listed("update_time asc") == ["1", "2"]
    assert listed("create_time desc") == ["2", "1"]
    answer = http.get(f"/v1/{name}:listVersions", params={"orderBy": "version_id"})
    assert fields(answer) == ["orderBy"]


def test_what_is_wrong_is_told_at_its_field(http: httpx.Client) -> None:
    assert fields(http.post(f"{URL}:upload", json={})) == ["model"]
    wrong = {"displayName": "", "containerSpec": {}, "artifactUri": "b/x"}
    answer = http.post(f"{URL}:upload", json={"model": wrong, "modelId": "A"})
    assert fields(answer) == [
        "model.displayName",
        "model.containerSpec.imageUri",
        "model.artifactUri",
        "modelId",
    ]
    away = {"model": {**MODEL, "artifactUri": "gs://nowhere/x"}}
    assert fields(http.post(f"{URL}:upload", json=away)) == ["model.artifactUri"]
    orphan = {"model": MODEL, "parentModel": f"{P}/models/none"}
    assert http.post(f"{URL}:upload", json=orphan).status_code == 404
    upload(http, modelId="one")
    again = http.post(f"{URL}:upload", json={"model": MODEL, "modelId": "one"})
    assert again.status_code == 409


def test_an_export_is_an_operation(http: httpx.Client, files: MemoryFiles) -> None:
    files.names.append("model/x")
    name = upload(http)["response"]["model"]
    config = {
        "exportFormatId": "custom-trained",
        "artifactDestination": {"outputUriPrefix": "gs://b/exports"},
    }
    body = {"name": name, "outputConfig": config}  # as the whole request is the body
    operation = http.post(f"/v1/{name}:export", json=body).json()
    assert operation["done"] is False
    written = operation["metadata"]["outputInfo"]["artifactOutputUri"]
    assert written.startswith("gs://b/exports/model-export-m-1-")
    assert http.get(f"/v1/{operation['name']}").json() == operation
    image = {"imageDestination": {"outputUri": "gcr.io/p/i"}}
    refused = http.post(f"/v1/{name}:export", json={"outputConfig": image})
    assert fields(refused) == ["outputConfig.imageDestination"]
    assert http.get(f"/v1/{name}/operations/export-9").status_code == 404
    other = http.post(f"/v1/{name}:export", json={"name": f"{name}9", "outputConfig": config})
    assert fields(other) == ["name"]
