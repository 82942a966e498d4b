"""Writes src/footplate/grpc_api/schema.json: the part of Google's published API that gRPC serves.

It is cut out of the descriptors and the HTTP rules that the clients for Python bring, which the
development environment has installed: the methods below, with the messages that they reach.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from google.cloud.location import locations_pb2
from google.longrunning import operations_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.rpc import error_details_pb2, status_pb2

if TYPE_CHECKING:
    from collections.abc import Iterator

    Document = dict[str, Any]

SCHEMA = Path(__file__).parents[1] / "src" / "footplate" / "grpc_api" / "schema.json"
VERSIONS = ("v1", "v1beta1")
VERBS = ("Create", "Get", "Delete", "Cancel")
ALL_VERBS = ("Create", "Get", "Update", "Delete")
BOARDS = ("", "Experiment", "Run", "TimeSeries")
SERVICES = {
    "JobService": (
        *(f"{verb}{kind}" for verb in VERBS for kind in ("CustomJob", "HyperparameterTuningJob")),
        *("ListCustomJobs", "ListHyperparameterTuningJobs"),
    ),
    "PipelineService": (*(f"{verb}TrainingPipeline" for verb in VERBS), "ListTrainingPipelines"),
    "ModelService": (
        *("UploadModel", "GetModel", "ListModels", "ListModelVersions", "UpdateModel"),
        *("DeleteModel", "DeleteModelVersion", "MergeVersionAliases", "ExportModel"),
    ),
    "DatasetService": (
        *(f"{verb}Dataset" for verb in ALL_VERBS),
        *("ListDatasets", "ImportData", "ExportData"),
    ),
    "PersistentResourceService": (
        *(f"{verb}PersistentResource" for verb in (*ALL_VERBS, "Reboot")),
        "ListPersistentResources",
    ),
    "VizierService": (
        *("CreateStudy", "GetStudy", "ListStudies", "DeleteStudy", "LookupStudy"),
        *("SuggestTrials", "CreateTrial", "GetTrial", "ListTrials", "DeleteTrial"),
        *("AddTrialMeasurement", "CompleteTrial", "StopTrial"),
        *("CheckTrialEarlyStoppingState", "ListOptimalTrials"),
    ),
    "MetadataService": (
        *("CreateMetadataStore", "GetMetadataStore", "ListMetadataStores", "DeleteMetadataStore"),
        *(f"{verb}{kind}" for verb in ALL_VERBS for kind in ("Context", "Artifact", "Execution")),
        *("ListContexts", "ListArtifacts", "ListExecutions"),
        *("AddContextArtifactsAndExecutions", "AddContextChildren", "RemoveContextChildren"),
        *("AddExecutionEvents", "QueryContextLineageSubgraph", "QueryArtifactLineageSubgraph"),
        "QueryExecutionInputsAndOutputs",
    ),
    "TensorboardService": (
        *(f"{verb}Tensorboard{kind}" for verb in ALL_VERBS for kind in BOARDS),
        *("ListTensorboards", "ListTensorboardExperiments", "ListTensorboardRuns"),
        *("ListTensorboardTimeSeries", "BatchCreateTensorboardRuns"),
        *("BatchCreateTensorboardTimeSeries", "BatchReadTensorboardTimeSeriesData"),
        *("ReadTensorboardTimeSeriesData", "WriteTensorboardExperimentData"),
        *("WriteTensorboardRunData", "ExportTensorboardTimeSeriesData"),
    ),
}
"""What has a route over REST."""
OTHERS = (("google.cloud.resourcemanager_v3", "google.cloud.resourcemanager.v3", "Projects"),)
OTHER_METHODS = {"Projects": ("GetProject",)}
"""Of other APIs: the package of the client, that of the API, the service."""
LOGGING = {
    "WriteLogEntries": ("POST", "/v2/entries:write", "*"),
    "ListLogEntries": ("POST", "/v2/entries:list", "*"),
    "ListLogs": ("GET", "/v2/{parent=projects/**}/logs", None),
    "TailLogEntries": ("POST", "/v2/entries:tail", "*"),
}
"""Its client has no HTTP rules. There is no URL for the last one, which is a stream."""
MIXED_IN = {
    operations_pb2: (
        (
            "Operations",
            "GetOperation",
            "GET",
            "/v1/{name=projects/*/locations/**/operations/*}",
            None,
        ),
        (
            "Operations",
            "ListOperations",
            "GET",
            "/v1/{name=projects/*/locations/**}/operations",
            None,
        ),
        (
            "Operations",
            "DeleteOperation",
            "DELETE",
            "/v1/{name=projects/*/locations/**/operations/*}",
            None,
        ),
        (
            "Operations",
            "CancelOperation",
            "POST",
            "/v1/{name=projects/*/locations/**/operations/*}:cancel",
            "*",
        ),
        (
            "Operations",
            "WaitOperation",
            "POST",
            "/v1/{name=projects/*/locations/**/operations/*}:wait",
            "*",
        ),
    ),
    locations_pb2: (
        ("Locations", "GetLocation", "GET", "/ui/{name=projects/*/locations/*}", None),
        ("Locations", "ListLocations", "GET", "/ui/{name=projects/*}/locations", None),
    ),
}
"""What each client of aiplatform calls on its own channel, with its URL here."""
_DATA_OPERATION = ("OperationMetadata", "Response")
IN_OPERATIONS = (
    *("DeleteOperationMetadata", "UploadModelOperationMetadata", "UploadModelResponse"),
    *("ExportModelOperationMetadata", "ExportModelResponse"),
    "CreateDatasetOperationMetadata",
    *(f"{verb}Data{part}" for verb in ("Import", "Export") for part in _DATA_OPERATION),
    *("SuggestTrialsMetadata", "SuggestTrialsResponse"),
    "CheckTrialEarlyStoppingStateMetatdata",  # Google's spelling
    "CheckTrialEarlyStoppingStateResponse",
    *(f"{verb}PersistentResourceOperationMetadata" for verb in ("Create", "Update", "Reboot")),
    *("CreateMetadataStoreOperationMetadata", "DeleteMetadataStoreOperationMetadata"),
    *("CreateTensorboardOperationMetadata", "UpdateTensorboardOperationMetadata"),
)
"""Messages that stand in operations, where no field names their type."""
ERRORS = (status_pb2.Status, error_details_pb2.BadRequest)
WELL_KNOWN = "google.protobuf."
TYPES = {
    getattr(FieldDescriptor, name): name.removeprefix("TYPE_").lower()
    for name in vars(FieldDescriptor)
    if name.startswith("TYPE_")
}


def make_schema() -> Document:
    types = _Types()
    methods: Document = {}
    for version in VERSIONS:
        package = importlib.import_module(f"google.cloud.aiplatform_{version}.types")
        for service, names in SERVICES.items():
            for name in names:
                path = f"/google.cloud.aiplatform.{version}.{service}/{name}"
                request = getattr(package, f"{name}Request").pb().DESCRIPTOR
                client = f"google.cloud.aiplatform_{version}"
                answer, rule = _published(client, service, name)
                methods[path] = _method(types, request, answer, *rule)
        for name in IN_OPERATIONS:
            types.add(getattr(package, name).pb().DESCRIPTOR)
    for client, api, service in OTHERS:
        package = importlib.import_module(f"{client}.types")
        for name in OTHER_METHODS[service]:
            request = getattr(package, f"{name}Request").pb().DESCRIPTOR
            answer, rule = _published(client, service, name)
            methods[f"/{api}.{service}/{name}"] = _method(types, request, answer, *rule)
    methods |= _make_logging(types)
    for module, rules in MIXED_IN.items():
        for service, name, *rule in rules:
            described = module.DESCRIPTOR.services_by_name[service].methods_by_name[name]
            path = f"/{described.containing_service.full_name}/{name}"
            methods[path] = _method(types, described.input_type, described.output_type, *rule)
    for kind in ERRORS:
        types.add(kind.DESCRIPTOR)
    return {"methods": methods, "messages": types.messages, "enums": types.enums}


def _make_logging(types: _Types) -> Document:
    package = importlib.import_module("google.cloud.logging_v2.types")
    methods: Document = {}
    for name, (verb, path, body) in LOGGING.items():
        kinds = (getattr(package, f"{name}{part}").pb() for part in ("Request", "Response"))
        request, answer = (kind.DESCRIPTOR for kind in kinds)
        called = f"/google.logging.v2.LoggingServiceV2/{name}"
        methods[called] = _method(types, request, answer, verb, path, body)
    return methods


def _published(client: str, service: str, name: str) -> tuple[Any, tuple[str, str, str | None]]:
    """What a method answers, and its first HTTP rule: verb, path, body."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    package = re.sub(r"(?<!^)(?=[A-Z])", "_", service).lower()
    transports = f"{client}.services.{package}.transports"
    base = importlib.import_module(f"{transports}.rest_base")
    rules = getattr(getattr(base, f"_Base{service}RestTransport"), f"_Base{name}")
    rule = rules._get_http_options()[0]
    answered: list[Any] = []

    def unary_unary(_path: str, *, response_deserializer: Any, **_: object) -> None:
        answered.append(response_deserializer.__self__)

    stub = getattr(
        getattr(importlib.import_module(f"{transports}.grpc"), f"{service}GrpcTransport"), snake
    )
    stub.fget(SimpleNamespace(_stubs={}, _logged_channel=SimpleNamespace(unary_unary=unary_unary)))
    (kind,) = answered
    descriptor = (kind.pb() if hasattr(kind, "pb") else kind).DESCRIPTOR
    return descriptor, (rule["method"].upper(), rule["uri"], rule.get("body"))


def _method(
    types: _Types, request: Any, answer: Any, verb: str, path: str, body: str | None
) -> Document:
    types.add(request)
    types.add(answer)
    rule = {"verb": verb, "path": path} | ({"body": body} if body else {})
    return {"request": request.full_name, "answer": answer.full_name, **rule}


class _Types:
    """The messages and enums that were added, with all that they refer to."""

    def __init__(self) -> None:
        self.messages: Document = {}
        self.enums: Document = {}

    def add(self, message: Any) -> None:
        name = message.full_name
        if name in self.messages or name.startswith(WELL_KNOWN):
            return
        self.messages[name] = {}
        self.messages[name] |= {
            field.name: " ".join(self._words(field)) for field in message.fields
        }

    def _words(self, field: Any) -> Iterator[str]:
        """Number, type, and what else is to be said: ``3 map string string``."""
        yield str(field.number)
        kind = field.message_type
        if kind is not None and kind.GetOptions().map_entry:
            yield "map"
            yield from (self._type(kind.fields_by_name[part]) for part in ("key", "value"))
            return
        yield self._type(field)
        if field.is_repeated:
            yield "repeated"
        elif (oneof := field.containing_oneof) is not None:
            yield "optional" if len(oneof.fields) == 1 and oneof.name[0] == "_" else oneof.name

    def _type(self, field: Any) -> str:
        if field.message_type is not None:
            self.add(field.message_type)
            return str(field.message_type.full_name)
        if field.enum_type is not None:
            enum = field.enum_type
            if not enum.full_name.startswith(WELL_KNOWN):
                self.enums[enum.full_name] = {value.name: value.number for value in enum.values}
            return str(enum.full_name)
        return TYPES[field.type]


def main() -> None:
    text = json.dumps(make_schema(), indent=1, sort_keys=True) + "\n"
    if "--check" not in sys.argv[1:]:
        SCHEMA.write_text(text, encoding="utf-8")
    elif SCHEMA.read_text(encoding="utf-8") != text:
        sys.exit(f"{SCHEMA} is stale: run tools/make_grpc_schema.py")


if __name__ == "__main__":
    main()
