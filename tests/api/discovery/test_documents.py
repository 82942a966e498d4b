"""Discovery documents: that they have each route, and nothing that isn't served."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import pytest
from starlette.routing import Match, Route

from footplate.api.app import create_app
from footplate.api.discovery_v1 import discovery_routes
from footplate.api.discovery_v1.rest_methods import describe_methods
from footplate.api.discovery_v1.storage_methods import PARTS_OF_METHODS
from footplate.api.discovery_v1.types import ModelTypes
from footplate.api.security import Access
from tests.api.discovery.conftest import World
from tests.support.http_server import serve

APIS = (
    ("ml", "v1"),
    ("aiplatform", "v1"),
    ("aiplatform", "v1beta1"),
    ("storage", "v1"),
    ("logging", "v2"),
)


def document(world: World, api: str, version: str, **headers: str) -> dict[str, Any]:
    answer = httpx.get(f"{world.url}/discovery/v1/apis/{api}/{version}/rest", headers=headers)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def methods(resource: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from resource.get("methods", {}).values()
    for inner in resource.get("resources", {}).values():
        yield from methods(inner)


def routes_of(world: World, api: str) -> Sequence[Route]:
    described = world.described
    routes = {
        "ml": described.training,
        "aiplatform": described.vertex,
        "storage": described.storage,
        "logging": described.logging,
    }
    return routes[api]


def requests(found: dict[str, Any], method: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The verb and the path of each request that a client makes for a method."""
    path = f"/{found['servicePath']}{method.get('flatPath', method['path'])}"
    if "mediaUpload" not in method:
        yield method["httpMethod"], path
    for protocol in method.get("mediaUpload", {}).get("protocols", {}).values():
        yield method["httpMethod"], protocol["path"]
    if method.get("supportsMediaDownload"):
        yield "GET", f"/download{path}"


@pytest.mark.parametrize(("api", "version"), APIS)
def test_every_method_is_served(world: World, api: str, version: str) -> None:
    found = document(world, api, version)
    for method in methods(found):
        for verb, path in requests(found, method):
            filled = re.sub(r"\{[^}]*\}", "x", path)
            headers = [(b"host", f"{api}.googleapis.com".encode())]
            scope = {"type": "http", "method": verb, "path": filled, "headers": headers}
            matches = {route.matches(scope)[0] for route in routes_of(world, api)}
            assert Match.FULL in matches, method["id"]


@pytest.mark.parametrize(("api", "version"), [each for each in APIS if each[0] != "storage"])
def test_every_route_is_described(world: World, api: str, version: str) -> None:
    found = document(world, api, version)
    described = [
        (verb, re.sub(r"\{[^}]*\}", "*", path))
        for method in methods(found)
        for verb, path in requests(found, method)
    ]
    served = {
        (verb, re.sub(r"\{[^}]*\}", "*", route.path))
        for route in routes_of(world, api)
        if route.path.startswith(f"/{version}/")
        for verb in (route.methods or set()) - {"HEAD"}
    }
    assert set(described) == served
    assert len(described) == len(served)


def test_every_route_of_storage_is_described(world: World) -> None:
    """Which methods a route has says a table, which an unknown one isn't in."""
    steps = {
        (verb, f"/{path.replace('b/', 'storage/v1/b/', 1)}") for verb, path in PARTS_OF_METHODS
    }
    names = {method["id"] for method in methods(document(world, "storage", "v1"))}
    assert {"storage.objects.insert", "storage.objects.rewrite", "storage.buckets.get"} <= names
    assert ("GET", "/download/storage/v1/b/{bucket}/o/{object}") in steps
    assert len(names) == 20


@pytest.mark.parametrize(("api", "version"), APIS)
def test_documents_are_whole(world: World, api: str, version: str) -> None:
    """All that is referred to is there, ids are unique, and parameters of paths are required."""
    found = document(world, api, version)
    referred = set(re.findall(r"'\$ref': '([^']*)'", str(found)))
    assert referred <= found["schemas"].keys()
    ids = [method["id"] for method in methods(found)]
    assert len(ids) == len(set(ids))
    assert all(name.startswith(f"{api}.") for name in ids)
    for method in methods(found):
        given = set(re.findall(r"\{\+?([^}]*)\}", method["path"]))
        places = method["parameters"].items()
        assert given == {name for name, each in places if each["location"] == "path"}
        assert given == {name for name, each in places if each.get("required")}
        assert given == set(method["parameterOrder"])


def test_messages_are_those_of_the_version(world: World) -> None:
    found = document(world, "aiplatform", "v1beta1")
    create = found["resources"]["projects"]["resources"]["locations"]["resources"]["customJobs"]
    assert create["methods"]["create"]["request"] == {
        "$ref": "GoogleCloudAiplatformV1beta1CustomJob"
    }
    job = found["schemas"]["GoogleCloudAiplatformV1beta1CustomJob"]["properties"]
    assert job["createTime"] == {"type": "string", "format": "google-datetime"}
    assert job["labels"] == {"type": "object", "additionalProperties": {"type": "string"}}
    assert "JOB_STATE_FAILED" in job["state"]["enum"]
    assert job["error"] == {"$ref": "GoogleRpcStatus"}
    listed = create["methods"]["list"]["parameters"]
    assert listed["pageSize"] == {"type": "integer", "format": "int32", "location": "query"}


def test_the_directory(world: World) -> None:
    everything = httpx.get(f"{world.url}/discovery/v1/apis").json()["items"]
    assert [tuple(item["id"].split(":")) for item in everything] == list(APIS)
    for item in everything:
        assert httpx.get(item["discoveryRestUrl"]).json()["id"] == item["id"]
    some = httpx.get(f"{world.url}/discovery/v1/apis", params={"name": "aiplatform"}).json()[
        "items"
    ]
    assert [item["version"] for item in some] == ["v1", "v1beta1"]


@pytest.mark.parametrize(
    ("host", "root"),
    [
        ("www.googleapis.com", "https://ml.googleapis.com/"),
        ("ml.googleapis.com", "https://ml.googleapis.com/"),
        ("europe-west4-ml.googleapis.com", "https://europe-west4-ml.googleapis.com/"),
    ],
)
def test_a_document_leads_to_the_host_of_the_api(world: World, host: str, root: str) -> None:
    found = document(world, "ml", "v1", host=host)
    assert (found["rootUrl"], found["baseUrl"]) == (root, root)


@pytest.mark.parametrize(
    ("host", "version", "expected"),
    [
        ("ml.googleapis.com", "v1", "ml:v1"),
        ("us-central1-aiplatform.googleapis.com", "v1beta1", "aiplatform:v1beta1"),
        ("storage.googleapis.com", "v1", "storage:v1"),
        ("logging.googleapis.com", "v2", "logging:v2"),
    ],
)
def test_each_host_has_its_document(world: World, host: str, version: str, expected: str) -> None:
    url = f"{world.url}/$discovery/rest"
    answer = httpx.get(url, params={"version": version}, headers={"host": host})
    assert answer.json()["id"] == expected


def test_what_is_unknown_is_refused_with_what_there_is(world: World) -> None:
    unknown = httpx.get(f"{world.url}/discovery/v1/apis/bigquery/v2/rest")
    assert unknown.status_code == 404
    assert (
        "no API 'bigquery:v2' here; Footplate serves ml:v1, aip"
        in unknown.json()["error"]["message"]
    )
    nameless = httpx.get(f"{world.url}/$discovery/rest", params={"version": "v1"})
    assert nameless.status_code == 404
    assert f"{world.url}/discovery/v1/apis/ml/v1/rest" in nameless.json()["error"]["message"]


def test_documents_need_no_token(world: World) -> None:
    """Clients ask for them before they have credentials."""
    app = create_app(discovery_routes(world.described), Access(token="s3cret"))
    with serve(app) as url:
        assert httpx.get(f"{url}/discovery/v1/apis/ml/v1/rest").status_code == 200
        answer = httpx.get(f"{url}/$discovery/rest", params={"version": "v1"})
    assert answer.status_code == 404


def test_a_variable_with_slashes_is_a_parameter_with_them() -> None:
    routes = [Route("/v2/{parent:path}/logs", print, methods=["GET"])]
    found = describe_methods("logging", "v2", routes, ModelTypes("", {}))
    (method,) = methods(found)
    assert (method["id"], method["path"]) == ("logging.logs.list", "v2/{+parent}/logs")
    assert method["parameters"]["parent"]["pattern"] == "^.+$"
    assert method["response"] == {"$ref": "JsonObject"}
