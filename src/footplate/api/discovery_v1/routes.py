"""The URLs of discovery documents.

Clients look at ``/discovery/v1/apis/API/VERSION/rest`` of ``www.googleapis.com``, and at
``/$discovery/rest?version=VERSION`` of the API's own host; the proxy answers for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue
from starlette.routing import Route

from footplate.api.discovery_v1.modelled_methods import LOGGING, TRAINING
from footplate.api.discovery_v1.rest_methods import describe_methods
from footplate.api.discovery_v1.storage_methods import BATCH_PATH, SERVICE_PATH, describe_storage
from footplate.api.discovery_v1.types import ModelTypes, PublishedTypes
from footplate.api.json_route import Call, json_route
from footplate.domain.errors import NotFound
from footplate.domain.formatting import quoted
from footplate.wire.json_text import JsonObject

_GOOGLE = "googleapis.com"
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_REVISION = "20260101"
_PARAMETERS: JsonObject = {
    name: {"type": kind, "location": "query"}
    for name, kind in (
        ("alt", "string"),
        ("fields", "string"),
        ("key", "string"),
        ("prettyPrint", "boolean"),
        ("quotaUser", "string"),
    )
}
"""Those of every method, which the service takes and ignores, but ``key``."""


@dataclass(frozen=True)
class Described:
    """The routes of each API.

    ``read_published`` reads the messages that Google publishes. It's called only when a document is
    requested, since the file is large.
    """

    training: Sequence[Route]
    vertex: Sequence[Route]
    storage: Sequence[Route]
    logging: Sequence[Route]
    read_published: Callable[[], Mapping[str, Any]]


@dataclass(frozen=True)
class _Api:
    """An API's document. ``describe`` makes the parts from the routes: resources and schemas."""

    name: str
    version: str
    title: str
    describe: Callable[[], JsonObject]
    service_path: str = ""
    batch_path: str = ""

    @property
    def id(self) -> str:
        return f"{self.name}:{self.version}"


def discovery_routes(described: Described) -> list[Route]:
    documents = _Documents(_apis(described))
    return [
        json_route("/discovery/v1/apis", {"GET": documents.list}),
        json_route("/discovery/v1/apis/{api}/{version}/rest", {"GET": documents.get}),
        json_route("/$discovery/rest", {"GET": documents.get_of_host}),
    ]


def _apis(described: Described) -> Iterator[_Api]:
    def training() -> JsonObject:
        types = ModelTypes("GoogleCloudMlV1__", TRAINING)
        return describe_methods("ml", "v1", described.training, types)

    def vertex(version: str) -> JsonObject:
        packages = (
            f"google.cloud.aiplatform.{version}",
            "google.longrunning",
            "google.cloud.location",
        )
        types = PublishedTypes(described.read_published(), packages)
        return describe_methods("aiplatform", version, described.vertex, types)

    def logging() -> JsonObject:
        return describe_methods("logging", "v2", described.logging, ModelTypes("", LOGGING))

    yield _Api("ml", "v1", "AI Platform Training & Prediction API", training)
    for version in ("v1", "v1beta1"):
        yield _Api("aiplatform", version, "Vertex AI API", partial(vertex, version))
    yield _Api(
        "storage",
        "v1",
        "Cloud Storage JSON API",
        lambda: describe_storage(described.storage),
        SERVICE_PATH,
        BATCH_PATH,
    )
    yield _Api("logging", "v2", "Cloud Logging API", logging)


class _Documents:
    def __init__(self, apis: Iterable[_Api]) -> None:
        self._apis = {(api.name, api.version): api for api in apis}
        self._made: dict[str, JsonObject] = {}

    def list(self, call: Call) -> JsonObject:
        name = call.query.get("name")
        root = _root(call, "www")
        items: list[JsonValue] = [
            {**_head(api), "kind": "discovery#directoryItem", "discoveryRestUrl": _url(root, api)}
            for api in self._apis.values()
            if name in (None, api.name)
        ]
        return {"kind": "discovery#directoryList", "discoveryVersion": "v1", "items": items}

    def get(self, call: Call) -> JsonObject:
        name, version = call.path["api"], call.path["version"]
        api = self._apis.get((name, version))
        if api is None:
            known = ", ".join(each.id for each in self._apis.values())
            raise NotFound(
                f"there is no API {quoted(f'{name}:{version}')} here; Footplate serves {known}"
            )
        return self._document(api, call)

    def get_of_host(self, call: Call) -> JsonObject:
        """Returns the document of the API whose host is called, as the proxy's clients do."""
        host, version = urlsplit(call.origin).hostname or "", call.query.get("version", "")
        for api in self._apis.values():
            if version == api.version and host.endswith(f"{api.name}.{_GOOGLE}"):
                return self._document(api, call)
        urls = [_url(_root(call, "www"), api) for api in self._apis.values()]
        raise NotFound(
            f"{quoted(host)} serves no API of the version {quoted(version)}; "
            f"documents are at {', '.join(urls)}"
        )

    def _document(self, api: _Api, call: Call) -> JsonObject:
        if api.id not in self._made:
            self._made[api.id] = api.describe()
        root = _root(call, api.name)
        document: JsonObject = {
            **_head(api),
            "kind": "discovery#restDescription",
            "discoveryVersion": "v1",
            "protocol": "rest",
            "revision": _REVISION,
            "rootUrl": root,
            "servicePath": api.service_path,
            "basePath": f"/{api.service_path}" if api.service_path else "",
            "baseUrl": f"{root}{api.service_path}",
            "parameters": _PARAMETERS,
            **self._made[api.id],
        }
        if api.batch_path:
            document["batchPath"] = api.batch_path
        if root.endswith(f".{_GOOGLE}/"):
            scopes: JsonObject = {_SCOPE: {"description": "All that this account may do"}}
            document["auth"] = {"oauth2": {"scopes": scopes}}
        return document


def _head(api: _Api) -> JsonObject:
    return {
        "id": api.id,
        "name": api.name,
        "version": api.version,
        "title": api.title,
        "description": f"{api.title}, as far as Footplate serves it",
        "preferred": api.version != "v1beta1",
    }


def _url(root: str, api: _Api) -> str:
    return f"{root}discovery/v1/apis/{api.name}/{api.version}/rest"


def _root(call: Call, name: str) -> str:
    """Returns the root URL of an API: this server's, or a Google host that the proxy serves.

    A call to a region's host gets a URL with that host.
    """
    host = urlsplit(call.origin).hostname or ""
    if not host.endswith(f".{_GOOGLE}"):
        return f"{call.origin}/"
    return f"https://{host if host.endswith(f'-{name}.{_GOOGLE}') else f'{name}.{_GOOGLE}'}/"
