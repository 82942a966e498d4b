"""Every method of Google's AI APIs that isn't served is answered at once, with a way out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import google.cloud.aiplatform_v1 as sdk
import googleapiclient.discovery_cache
import pytest
from starlette.routing import Match, Route

from footplate.api.unserved_resources import answer_unserved
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.grpc_api.published import read_published
from footplate.grpc_api.unserved_calls import ROUTING, unserved_request
from tests.api.discovery.conftest import World
from tests.api.discovery.test_documents import methods

DOCUMENTS = Path(googleapiclient.discovery_cache.__file__).parent / "documents"
CALLS = Path(sdk.__file__).parent
RULE = re.compile(r'class _Base(\w+):[^@]*?@[^@]*?"method": "(\w+)",\s*"uri": "(/v1[^"]+)"')
MIXED_IN = ("Location", "Locations", "Operation", "Operations", "Policy", "Permissions")
REFUSED_OTHERWISE = {
    *("BatchMigrateResources", "ChatCompletions", "ExportPublisherModel", "RebaseTunedModel"),
    "StreamingFetchFeatureValues",
}
"""Their names don't tell their paths."""
LOCATION = "projects/demo/locations/us-central1"


def requests(api: str) -> Iterator[tuple[str, str]]:
    """The verb and path of every method that Google publishes; datasets need a project here."""
    document = json.loads((DOCUMENTS / f"{api}.json").read_text("utf-8"))
    for method in methods(document):
        path = method.get("flatPath", method["path"])
        yield method["httpMethod"], "/" + re.sub(r"\{[^}]*\}", "x", path)


def serves(routes: Sequence[Route], api: str, verb: str, path: str) -> bool:
    host = f"{api.partition('.')[0]}.googleapis.com".encode()
    scope = {"type": "http", "method": verb, "path": path, "headers": [(b"host", host)]}
    return any(route.matches(scope)[0] is Match.FULL for route in routes)


def said(verb: str, path: str) -> str:
    """What is said of a path that isn't served; empty for an empty list."""
    try:
        answer = answer_unserved(verb, path)
    except (NotFound, FailedPrecondition) as refusal:
        return f"{type(refusal).__name__}: {refusal.message}"
    assert answer == {}, (verb, path)
    return ""


@pytest.mark.parametrize("api", ["ml.v1", "aiplatform.v1", "aiplatform.v1beta1"])
def test_every_method_that_google_publishes(world: World, api: str) -> None:
    described = world.described
    routes = [*described.vertex, *described.training]
    unserved = [
        (verb, path)
        for verb, path in requests(api)
        if not serves(routes, api, verb, path) and path.split("/")[2:3] != ["datasets"]
    ]
    assert len(unserved) > 10
    for verb, path in unserved:
        if text := said(verb, path):
            assert re.search(r": .+", text), path
            assert (verb, path) != ("GET", path.rpartition("/x")[0]), text


@pytest.mark.parametrize(
    ("verb", "path", "status"),
    [
        ("GET", f"/v1/{LOCATION}/endpoints", ""),
        ("POST", f"/v1/{LOCATION}/endpoints", "FailedPrecondition"),
        ("GET", f"/v1beta1/{LOCATION}/endpoints/1", "NotFound"),
        ("POST", f"/v1/{LOCATION}/endpoints/1:predict", "NotFound"),
        ("GET", f"/v1/{LOCATION}/featurestores/f/entityTypes/e/features", "NotFound"),
        ("POST", f"/v1/{LOCATION}/migratableResources:search", ""),
        ("POST", f"/v1/{LOCATION}/migratableResources:batchMigrate", "FailedPrecondition"),
        ("GET", f"/v1/{LOCATION}/models/1/evaluations", ""),
        ("POST", f"/v1/{LOCATION}/models:copy", "FailedPrecondition"),
        ("POST", f"/v1/{LOCATION}:evaluateInstances", "FailedPrecondition"),
        ("GET", f"/v1/{LOCATION}/ragEngineConfig", "FailedPrecondition"),
        ("POST", "/v1beta1/publishers/google/models/gemini:generateContent", "NotFound"),
        ("GET", "/v1/projects/demo/models", ""),
        ("POST", "/v1/projects/demo/models", "FailedPrecondition"),
        ("POST", "/v1/projects/demo/models/m:predict", "NotFound"),
        ("GET", "/v1/projects/demo/models/m/versions/v", "NotFound"),
    ],
)
def test_statuses(verb: str, path: str, status: str) -> None:
    assert said(verb, path).partition(":")[0] == status


def test_a_refusal_names_the_resource() -> None:
    name = f"{LOCATION}/endpoints/1"
    assert said("POST", f"/v1/{name}:predict").startswith(f"NotFound: {name} does not exist. Foot")


@pytest.mark.parametrize("path", ["/v1/projects/endpoints/jobs", "/v1/projects/demo/wrong", "/x"])
def test_other_paths_are_not_touched(path: str) -> None:
    """Names may be those of collections."""
    assert answer_unserved("GET", path) is None


def calls() -> Iterator[tuple[str, str, str, str]]:
    """Each gRPC method that has a URL: its name, what its header says, and the request."""
    for version in ("v1", "v1beta1"):
        services = CALLS.with_name(f"aiplatform_{version}") / "services"
        for file in sorted(services.glob("*/transports/rest_base.py")):
            text = file.read_text("utf-8")
            service = re.findall(r"class _Base(\w+)RestTransport", text)[0]
            for name, verb, path in RULE.findall(text):
                if name.endswith(MIXED_IN):
                    continue
                for field, pattern in re.findall(r"{([a-z_.]+)=([^}]*)}", path)[:1]:
                    routed = f"{field}={pattern.replace('*', 'x').replace('/', '%2F')}"
                    filled = re.sub(r"{[^=]*=([^}]*)}", r"\1", path).replace("*", "x")
                    full = f"/google.cloud.aiplatform.{version}.{service}/{name}"
                    yield full, routed, verb.upper(), filled


def test_every_call_of_grpc_is_answered_as_its_request() -> None:
    served = read_published()["methods"].keys()
    unserved = [each for each in calls() if each[0] not in served]
    assert len(unserved) > 300
    for name, routed, verb, path in unserved:
        request = unserved_request(name, [("x", "y"), (ROUTING, routed)])
        if name.rpartition("/")[2] in REFUSED_OTHERWISE:
            assert request is None or said(request.verb, request.path)
        else:
            assert request is not None, name
            assert said(request.verb, request.path) == said(verb, path), name


@pytest.mark.parametrize(
    ("method", "routed", "verb", "path"),
    [
        ("EndpointService/ListEndpoints", "parent", "GET", f"{LOCATION}/endpoints"),
        ("EndpointService/GetEndpoint", "name", "GET", f"{LOCATION}/endpoints/1"),
        ("EndpointService/UpdateEndpoint", "endpoint.name", "PATCH", f"{LOCATION}/endpoints/1"),
        ("PredictionService/Predict", "endpoint", "POST", f"{LOCATION}/endpoints/1"),
        ("IndexService/CreateIndex", "parent", "POST", f"{LOCATION}/indexes"),
        ("VertexRagDataService/CreateRagCorpus", "parent", "POST", f"{LOCATION}/ragCorpora"),
        ("MigrationService/SearchMigratableResources", "parent", "GET", "migratableResources"),
    ],
)
def test_calls_name_their_resource_in_a_header(
    method: str, routed: str, verb: str, path: str
) -> None:
    resource = path if path.endswith("/1") else LOCATION
    header = f"{routed}={resource.replace('/', '%2F')}"
    request = unserved_request(f"/google.cloud.aiplatform.v1.{method}", [(ROUTING, header)])
    assert request is not None
    assert request.verb == verb
    assert request.path.endswith(f"/{path}")


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        ("/google.cloud.aiplatform.v1.EndpointService/ListEndpoints", []),
        ("/google.pubsub.v1.Publisher/ListTopics", [(ROUTING, "parent=projects/p/endpoints/1")]),
    ],
)
def test_other_calls_have_no_request(name: str, metadata: list[Any]) -> None:
    assert unserved_request(name, metadata) is None
