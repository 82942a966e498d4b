"""The URLs of discovery documents.

Clients look at ``/discovery/v1/apis/API/VERSION/rest`` of ``www.googleapis.com``, and at
``/$discovery/rest?version=VERSION`` of the API's own host; the proxy answers for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from pydantic import JsonValue
from starlette.routing import Route

from footplate.api.discovery_v1.rest_methods import describe_methods
from footplate.api.discovery_v1.storage_methods import BATCH_PATH, SERVICE_PATH, describe_storage
from footplate.api.discovery_v1.types import ModelledMethod, ModelTypes, PublishedTypes
from footplate.api.json_route import Call, json_route
from footplate.domain.errors import NotFound
from footplate.domain.formatting import quoted
from footplate.wire.iam import TestIamPermissionsRequest
from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import JsonObject
from footplate.wire.logging_v2.entry_models import WriteEntriesRequest
from footplate.wire.logging_v2.requests import ListEntriesRequest
from footplate.wire.scalars import Double, Flag, Int32, Int64, Text, Timestamp
from footplate.wire.training_v1 import models
from footplate.wire.training_v1.studies import models as study_models
from footplate.wire.vertex_v1.vizier_enums import StudyState

# The requests and responses of the methods of ml v1 and Cloud Logging.


class Empty(JsonModel):
    """An empty message."""


class HyperparameterOutputMetric(JsonModel):
    training_step: Int64
    objective_value: Double


class BuiltInAlgorithmOutput(JsonModel):
    framework: Text
    runtime_version: Text
    python_version: Text
    model_path: Text


class HyperparameterOutput(JsonModel):
    trial_id: Text
    hyperparameters: dict[str, Text]
    state: Text
    final_metric: HyperparameterOutputMetric
    all_metrics: list[HyperparameterOutputMetric]
    start_time: Timestamp
    end_time: Timestamp
    is_trial_stopped_early: Flag
    built_in_algorithm_output: BuiltInAlgorithmOutput
    web_access_uris: dict[str, Text]
    error_message: Text


class TrainingOutput(JsonModel):
    completed_trial_count: Int64
    trials: list[HyperparameterOutput]
    consumed_ml_units: Double
    is_hyperparameter_tuning_job: Flag
    hyperparameter_metric_tag: Text
    is_built_in_algorithm_job: Flag
    built_in_algorithm_output: BuiltInAlgorithmOutput
    web_access_uris: dict[str, Text]


class Job(models.Job):
    """A job as clients send it, with the fields that answers add."""

    create_time: Timestamp
    start_time: Timestamp
    end_time: Timestamp
    state: Text
    error_message: Text
    end_explanation: Text
    pending_explanation: Text
    container_images: dict[str, Text]
    engine_jobs: dict[str, Text]
    job_position: Int64
    training_output: TrainingOutput
    etag: Text


class ListJobsResponse(JsonModel):
    jobs: list[Job]
    next_page_token: Text


class GetConfigResponse(JsonModel):
    service_account: Text
    service_account_project: Int64
    config: dict[str, JsonValue]


class Capability(JsonModel):
    type: Text
    available_accelerators: list[Text]


class Location(JsonModel):
    name: Text
    location_id: Text
    capabilities: list[Capability]


class ListLocationsResponse(JsonModel):
    locations: list[Location]
    next_page_token: Text


class Operation(JsonModel):
    name: Text
    metadata: dict[str, JsonValue]
    done: Flag
    error: dict[str, JsonValue]
    response: dict[str, JsonValue]


class ListOperationsResponse(JsonModel):
    operations: list[Operation]
    next_page_token: Text


class Policy(JsonModel):
    version: Int32
    etag: Text
    bindings: list[dict[str, JsonValue]]


class SetIamPolicyRequest(JsonModel):
    policy: Policy
    update_mask: Text


class TestIamPermissionsResponse(JsonModel):
    permissions: list[Text]


class ListLogEntriesResponse(JsonModel):
    entries: list[dict[str, JsonValue]]
    next_page_token: Text


class Study(study_models.Study):
    name: Text
    state: StudyState
    create_time: Timestamp
    inactive_reason: Text


class ListStudiesResponse(JsonModel):
    studies: list[Study]


class Trial(study_models.Trial):
    name: Text
    start_time: Timestamp
    end_time: Timestamp


class ListTrialsResponse(JsonModel):
    trials: list[Trial]


_PAGED: Mapping[str, object] = MappingProxyType(
    {"filter": Text, "pageSize": Int32, "pageToken": Text}
)
_PROJECT, _JOB = "projects/*", "projects/*/jobs/*"
_STUDIES = f"{_PROJECT}/locations/*/studies"
_TRIALS = f"{_STUDIES}/*/trials"
TRAINING: Mapping[tuple[str, str], ModelledMethod] = MappingProxyType(
    {
        ("GET", f"{_PROJECT}:getConfig"): ModelledMethod(GetConfigResponse),
        ("GET", f"{_PROJECT}/locations"): ModelledMethod(ListLocationsResponse, query=_PAGED),
        ("GET", f"{_PROJECT}/locations/*"): ModelledMethod(Location),
        ("GET", f"{_PROJECT}/operations"): ModelledMethod(
            ListOperationsResponse, query=_PAGED, parameter="name"
        ),
        ("GET", f"{_PROJECT}/operations/*"): ModelledMethod(Operation),
        ("POST", f"{_PROJECT}/operations/*:cancel"): ModelledMethod(Empty),
        ("GET", f"{_PROJECT}/jobs"): ModelledMethod(ListJobsResponse, query=_PAGED),
        ("POST", f"{_PROJECT}/jobs"): ModelledMethod(Job, Job),
        ("GET", _JOB): ModelledMethod(Job),
        ("PATCH", _JOB): ModelledMethod(Job, Job, {"updateMask": Text}),
        ("POST", f"{_JOB}:cancel"): ModelledMethod(Empty, Empty),
        ("GET", f"{_JOB}:getIamPolicy"): ModelledMethod(
            Policy, query={"options.requestedPolicyVersion": Int32}, parameter="resource"
        ),
        ("POST", f"{_JOB}:setIamPolicy"): ModelledMethod(
            Policy, SetIamPolicyRequest, parameter="resource"
        ),
        ("POST", f"{_JOB}:testIamPermissions"): ModelledMethod(
            TestIamPermissionsResponse, TestIamPermissionsRequest, parameter="resource"
        ),
        ("GET", f"{_PROJECT}/locations/*/operations/*"): ModelledMethod(Operation),
        ("POST", f"{_PROJECT}/locations/*/operations/*:cancel"): ModelledMethod(Empty),
        ("GET", _STUDIES): ModelledMethod(ListStudiesResponse),
        ("POST", _STUDIES): ModelledMethod(Study, Study, {"studyId": Text}),
        ("GET", f"{_STUDIES}/*"): ModelledMethod(Study),
        ("DELETE", f"{_STUDIES}/*"): ModelledMethod(Empty),
        ("GET", _TRIALS): ModelledMethod(ListTrialsResponse),
        ("POST", _TRIALS): ModelledMethod(Trial, Trial),
        ("POST", f"{_TRIALS}:suggest"): ModelledMethod(
            Operation, study_models.SuggestTrialsRequest
        ),
        ("POST", f"{_TRIALS}:listOptimalTrials"): ModelledMethod(ListTrialsResponse, Empty),
        ("GET", f"{_TRIALS}/*"): ModelledMethod(Trial),
        ("DELETE", f"{_TRIALS}/*"): ModelledMethod(Empty),
        ("POST", f"{_TRIALS}/*:addMeasurement"): ModelledMethod(
            Trial, study_models.AddTrialMeasurementRequest
        ),
        ("POST", f"{_TRIALS}/*:complete"): ModelledMethod(Trial, study_models.CompleteTrialRequest),
        ("POST", f"{_TRIALS}/*:stop"): ModelledMethod(Trial, Empty),
        ("POST", f"{_TRIALS}/*:checkEarlyStoppingState"): ModelledMethod(Operation, Empty),
    }
)
"""Of ml v1."""
LOGGING: Mapping[tuple[str, str], ModelledMethod] = MappingProxyType(
    {
        ("POST", "entries:list"): ModelledMethod(ListLogEntriesResponse, ListEntriesRequest),
        ("POST", "entries:write"): ModelledMethod(Empty, WriteEntriesRequest),
    }
)
"""Of logging v2."""


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
