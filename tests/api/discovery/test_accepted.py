"""Every parameter and field of Google's documents: honoured, without effect, or refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import googleapiclient.discovery_cache
import httpx
import pytest
from pydantic.alias_generators import to_camel

from footplate.api.accepted_parameters import HONOURED, WITHOUT_EFFECT, Parameters, end_of
from footplate.api.storage_v1 import accepted_fields, accepted_parameters
from footplate.domain.datasets import schema_uri
from footplate.wire.iam import TestIamPermissionsRequest as IamRequest
from footplate.wire.json_model import OWN_OUTPUT, JsonModel
from footplate.wire.logging_v2 import entry_models
from footplate.wire.logging_v2 import requests as log_requests
from footplate.wire.training_v1 import models as training
from footplate.wire.training_v1.studies import models as optimizer
from footplate.wire.vertex_v1 import (
    dataset_models,
    models,
    pipeline_models,
    resource_models,
    tracking_models,
    vizier_models,
)
from tests.api.discovery.conftest import World
from tests.api.discovery.test_documents import APIS, document, methods, requests

_GOOGLES = Path(googleapiclient.discovery_cache.__file__).parent / "documents"
_VALUES = {"boolean": "true", "integer": "1"}
_NAMES = {"b": "stage", "locations": "us-central1", "projects": "demo", "trials": "1"}
"""What stands in a path behind these."""
_REFUSED = ("unknown name", "not supported")

_GOOGLE_V1 = re.compile("GoogleCloudMlV1_+|GoogleIamV1__|GoogleCloudAiplatformV1(beta1)?")
BODIES: Mapping[str, type[JsonModel]] = {
    "AddContextArtifactsAndExecutionsRequest": tracking_models.AddContextArtifactsAndExecutions,
    "AddContextChildrenRequest": tracking_models.ContextChildren,
    "AddExecutionEventsRequest": tracking_models.AddExecutionEvents,
    "AddTrialMeasurementRequest": vizier_models.AddTrialMeasurementRequest,
    "Artifact": tracking_models.Artifact,
    "BatchCreateTensorboardRunsRequest": tracking_models.CreateRuns,
    "BatchCreateTensorboardTimeSeriesRequest": tracking_models.CreateManyTimeSeries,
    "CancelCustomJobRequest": JsonModel,
    "CancelHyperparameterTuningJobRequest": JsonModel,
    "CancelJobRequest": JsonModel,
    "CancelTrainingPipelineRequest": JsonModel,
    "CheckTrialEarlyStoppingStateRequest": JsonModel,
    "CompleteTrialRequest": vizier_models.CompleteTrialRequest,
    "Context": tracking_models.Context,
    "CustomJob": models.CustomJob,
    "Execution": tracking_models.Execution,
    "Dataset": dataset_models.Dataset,
    "ExportDataRequest": dataset_models.ExportData,
    "ExportModelRequest": pipeline_models.ExportModel,
    "ExportTensorboardTimeSeriesDataRequest": tracking_models.ExportTimeSeries,
    "ImportDataRequest": dataset_models.ImportData,
    "HyperparameterTuningJob": models.HyperparameterTuningJob,
    "Job": training.JobPatch,
    "ListLogEntriesRequest": log_requests.ListEntriesRequest,
    "ListOptimalTrialsRequest": JsonModel,
    "LookupStudyRequest": vizier_models.LookupStudyRequest,
    "MergeVersionAliasesRequest": pipeline_models.MergeVersionAliases,
    "MetadataStore": tracking_models.MetadataStore,
    "Model": pipeline_models.Model,
    "PersistentResource": resource_models.PersistentResource,
    "RebootPersistentResourceRequest": JsonModel,
    "RemoveContextChildrenRequest": tracking_models.ContextChildren,
    "StopTrialRequest": JsonModel,
    "Study": vizier_models.Study,
    "SuggestTrialsRequest": vizier_models.SuggestTrialsRequest,
    "Tensorboard": tracking_models.Tensorboard,
    "TensorboardExperiment": tracking_models.TensorboardExperiment,
    "TensorboardRun": tracking_models.TensorboardRun,
    "TensorboardTimeSeries": tracking_models.TensorboardTimeSeries,
    "TestIamPermissionsRequest": IamRequest,
    "TrainingPipeline": pipeline_models.CustomTask,
    "Trial": vizier_models.Trial,
    "UploadModelRequest": pipeline_models.UploadModel,
    "WriteLogEntriesRequest": entry_models.WriteEntriesRequest,
    "WriteTensorboardExperimentDataRequest": tracking_models.WriteExperimentData,
    "WriteTensorboardRunDataRequest": tracking_models.WriteRunData,
}
"""What is read of each of Google's requests, in any version; an empty one is ``JsonModel``."""
_OPTIMIZER: Mapping[str, type[JsonModel]] = {
    "AddTrialMeasurementRequest": optimizer.AddTrialMeasurementRequest,
    "CompleteTrialRequest": optimizer.CompleteTrialRequest,
    "Study": optimizer.Study,
    "SuggestTrialsRequest": optimizer.SuggestTrialsRequest,
    "Trial": optimizer.Trial,
}
"""Those of ml v1 that have the name of one of aiplatform."""
_ALL_REFUSED = frozenset({"ml.projects.jobs.setIamPolicy"})
_WARNED_OF = ("CustomJob", "HyperparameterTuningJob", "TrainingPipeline")
"""Whose unknown fields are kept, with a warning."""
_AT_ONCE = 20
"""Fields in one request; a server names at most 50 that are wrong."""


def published(api: str, version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((_GOOGLES / f"{api}.{version}.json").read_text())
    return found


def address(path: str) -> str:
    parts = path.split("/")
    for place, part in enumerate(parts):
        name = _NAMES.get(parts[place - 1], "x")
        parts[place] = re.sub(r"\{[^{}]*\}", name, part)
    return "/".join(parts)


def shape(path: str) -> str:
    return re.sub(r"\{[^{}]*\}", "*", path)


def served(world: World, api: str, version: str) -> Iterator[tuple[dict[str, Any], str, str]]:
    """Google's methods that are served, with their verbs and paths."""
    googles = published(api, version)
    there = {
        (verb, shape(path)): method
        for method in methods(googles)
        for verb, path in requests(googles, method)
    }
    ours = document(world, api, version)
    for method in methods(ours):
        for verb, path in requests(ours, method):
            if found := there.get((verb, shape(path))):
                yield found, verb, path


def client_of(world: World, api: str) -> httpx.Client:
    """A client that calls the API's own host: two APIs have studies at the same URLs."""
    headers = {"host": f"{api}.googleapis.com"}
    return httpx.Client(base_url=world.url, timeout=60, headers=headers)


def accepted(api: str, method: dict[str, Any], verb: str, path: str) -> set[str]:
    if api == "storage":
        name = method["id"].removeprefix("storage.")
        return {
            "fields",
            *accepted_parameters.HONOURED[name],
            *accepted_parameters.without_effect(name),
        }
    parameters = Parameters(verb, path)
    return {*parameters.honoured, *parameters.without_effect}


@pytest.mark.parametrize(("api", "version"), APIS)
def test_every_parameter_is_honoured_without_effect_or_refused(
    world: World, api: str, version: str
) -> None:
    everywhere = published(api, version)["parameters"]
    checked = 0
    with client_of(world, api) as http:
        for method, verb, path in served(world, api, version):
            known = accepted(api, method, verb, path)
            of_query = {
                name: described
                for name, described in {**everywhere, **method.get("parameters", {})}.items()
                if described["location"] == "query"
            }
            wrong = {
                name: described.get("enum", [_VALUES.get(described["type"], "x")])[0]
                for name, described in of_query.items()
                if name not in known
            }
            answer = http.request(verb, address(path), params={**wrong, "colour": "red"})
            assert answer.status_code == 400, (method["id"], answer.text)
            message = answer.json()["error"]["message"]
            for name in (*wrong, "colour"):
                said = re.search(rf"(?<![\w.]){re.escape(name)}: ([\w ]+)", message)
                assert said, (method["id"], name, message)
                assert said[1] in _REFUSED, (method["id"], name, message)
            checked += len(of_query)
    assert checked > 10


@pytest.mark.parametrize(("api", "version"), APIS)
def test_documents_have_what_is_accepted_alone(world: World, api: str, version: str) -> None:
    """A client that is made of one can't ask for what would be refused."""
    ours = document(world, api, version)
    for method in methods(ours):
        for verb, path in requests(ours, method):
            known = accepted(api, method, verb, path)
            query = {
                name
                for name, described in method["parameters"].items()
                if described["location"] == "query"
            }
            assert query <= known, method["id"]


def test_the_tables_are_of_methods_that_are_served(world: World) -> None:
    ends = {
        (verb, end_of(route.path))
        for routes in (
            world.described.training,
            world.described.vertex,
            world.described.logging,
        )
        for route in routes
        for verb in route.methods or ()
    }
    assert {*HONOURED, *WITHOUT_EFFECT} - ends == {("GET", "services")}
    names = {method["id"] for method in methods(document(world, "storage", "v1"))}
    assert {f"storage.{name}" for name in accepted_parameters.HONOURED} == names
    assert accepted_parameters.WITHOUT_EFFECT.keys() <= accepted_parameters.HONOURED.keys()


@pytest.mark.parametrize(("kind", "schema"), [("BUCKET", "Bucket"), ("OBJECT", "Object")])
def test_every_field_of_storage_is_in_one_table(world: World, kind: str, schema: str) -> None:
    """And a request with a refused one, or with none of Google's, is refused by its name."""
    fields = published("storage", "v1")["schemas"][schema]["properties"]
    honoured, refused = accepted_fields.HONOURED[kind], accepted_fields.REFUSED[kind].keys()
    harmless = accepted_fields.WITHOUT_EFFECT[kind].keys()
    assert not fields.keys() - honoured - harmless - refused
    assert not honoured & (harmless | refused)
    assert not harmless & refused
    for name in (*refused, "colour"):
        value: Any = {"of": "x"} if fields.get(name, {}).get("type") == "object" else "x"
        if kind == "BUCKET":
            answer = httpx.post(f"{world.url}/storage/v1/b", json={"name": "made", name: value})
        else:
            query = {"uploadType": "resumable", "name": "made"}
            url = f"{world.url}/upload/storage/v1/b/stage/o"
            answer = httpx.post(url, params=query, json={name: value})
        assert answer.status_code == 400, name
        assert re.search(rf"\b{name}[\w.]*: (not supported|unknown name)", answer.text), name


class Body:
    """A message of Google's and the model that reads it; ``path`` is where it stands in a body."""

    def __init__(
        self, schemas: Mapping[str, Any], name: str, model: type[JsonModel], path: str = ""
    ) -> None:
        self.kind = _GOOGLE_V1.sub("", name)
        self.model = model
        self.path = path
        self.fields: Mapping[str, Any] = schemas[name].get("properties", {})
        self.places = {
            place: {to_camel(name) for name in names}
            for place, names in (
                ("honoured", model.model_fields),
                ("filled by the service", model.OUTPUT_ONLY),
                ("without effect", model.WITHOUT_EFFECT),
                ("refused", model.REFUSED),
            )
        }
        self._schemas = schemas

    def every(self, around: tuple[type[JsonModel], ...] = ()) -> Iterator[Body]:
        """It, and the messages in it, but for those that stand in themselves."""
        yield self
        inner = {to_camel(name): field for name, field in self.model.model_fields.items()}
        for name in self.places["honoured"] & self.fields.keys():
            described = self.fields[name]
            reference = described.get("$ref") or described.get("items", {}).get("$ref")
            for kind in messages_in(inner[name].annotation):
                if reference is None or kind in around:
                    continue
                where = f"{self.path}{name}{'[0]' * ('items' in described)}."
                yield from Body(self._schemas, reference, kind, where).every((*around, kind))


def messages_in(annotation: Any) -> list[type[JsonModel]]:
    if isinstance(annotation, type) and issubclass(annotation, JsonModel):
        return [annotation]
    return [kind for each in get_args(annotation) for kind in messages_in(each)]


def bodies(world: World, api: str, version: str) -> Iterator[tuple[Body, str, str, str]]:
    """What the methods that are served read, with their ids, verbs and paths."""
    schemas = published(api, version)["schemas"]
    for method, verb, path in served(world, api, version):
        if "request" in method and method["id"] not in _ALL_REFUSED:
            name = method["request"]["$ref"]
            kind, of_api = _GOOGLE_V1.sub("", name), _OPTIMIZER if api == "ml" else BODIES
            yield Body(schemas, name, of_api.get(kind) or BODIES[kind]), method["id"], verb, path


JSON_APIS = [each for each in APIS if each[0] != "storage"]


@pytest.mark.parametrize(("api", "version"), JSON_APIS)
def test_every_field_of_a_body_is_in_one_place(world: World, api: str, version: str) -> None:
    """No place has other fields: Google's servers don't know those."""
    checked = 0
    own = {to_camel(name) for name in OWN_OUTPUT}
    googles: dict[str, set[str]] = {}
    for each in (each for each in APIS if each[0] == api):
        for name, schema in published(*each)["schemas"].items():
            fields = googles.setdefault(_GOOGLE_V1.sub("", name), set())
            fields.update(schema.get("properties", {}))
    for whole, method, _, _ in bodies(world, api, version):
        for body in whole.every():
            for name, described in body.fields.items():
                places = [place for place, names in body.places.items() if name in names]
                assert len(places) == 1, (method, body.path, name, places)
                if described.get("readOnly"):
                    assert places != ["refused"], (method, body.path, name)
            checked += len(body.fields)
            known = {name for names in body.places.values() for name in names}
            assert known <= googles[body.kind] | own, (method, body.path)
    assert checked > 8


@pytest.mark.parametrize(("api", "version"), JSON_APIS)
def test_every_method_refuses_fields_by_name(world: World, api: str, version: str) -> None:
    """Those that no message has, at any depth, and those of Google's that are refused."""
    with client_of(world, api) as http:
        for whole, method, verb, path in bodies(world, api, version):
            if whole.kind in _WARNED_OF:
                continue
            wrong = [
                (f"{body.path}{name}", said)
                for body in whole.every()
                for name, said in (
                    ("colour", "unknown name"),
                    *((name, "not supported") for name in sorted(body.places["refused"])),
                )
            ]
            for first in range(0, len(wrong), _AT_ONCE):
                some = wrong[first : first + _AT_ONCE]
                sent: dict[str, Any] = {}
                for field, _ in some:
                    put(sent, field)
                answer = http.request(verb, address(path), json=sent)
                assert answer.status_code == 400, (method, answer.text)
                (detail,) = answer.json()["error"]["details"]
                found = {v["field"]: v["description"] for v in detail["fieldViolations"]}
                for field, said in some:
                    assert found.get(field, "").startswith(said), (method, field, found)


PLACE = "/v1/projects/demo/locations/us-central1"
POOL = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
MADE: list[tuple[str, dict[str, Any]]] = [
    ("datasets", {"displayName": "x", "metadataSchemaUri": schema_uri("text")}),
    ("metadataStores/default/contexts?contextId=x", {"displayName": "x"}),
    ("metadataStores/default/artifacts?artifactId=x", {"displayName": "x"}),
    ("metadataStores/default/executions?executionId=x", {"displayName": "x"}),
    ("models:upload", {"model": {"displayName": "x", "explanationSpec": {"parameters": {}}}}),
    ("persistentResources?persistentResourceId=back", {"resourcePools": [POOL]}),
    ("tensorboards", {"displayName": "x"}),
]


@pytest.mark.parametrize(("path", "body"), MADE)
def test_an_answer_can_be_sent_back_with_a_change(
    world: World, path: str, body: dict[str, Any]
) -> None:
    """Clients read a resource, change it, and send all of it, what the service fills, too."""
    with httpx.Client(base_url=world.url, timeout=60) as http:
        made = http.post(f"{PLACE}/{path}", json=body)
        assert made.status_code == 200, made.text
        name = made.json().get("response", {}).get("model", made.json()["name"])
        url = f"/v1/{name.partition('/operations/')[0]}"
        changed = http.get(url).json() | {"displayName": "y"}
        answer = http.patch(url, params={"updateMask": "displayName"}, json=changed)
        assert answer.status_code == 200, answer.text
        assert http.get(url).json()["displayName"] == "y"


def put(document: dict[str, Any], field: str) -> None:
    """Sets ``field``, with the messages around it."""
    *around, last = field.split(".")
    for part in around:
        name, bracket, _ = part.partition("[")
        inner = document.setdefault(name, [{}] if bracket else {})
        document = inner[0] if bracket else inner
    document[last] = {"of": "x"}
