"""The URLs of MetadataService and TensorboardService."""

from __future__ import annotations

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.api.operations import done_operation_routes
from footplate.api.vertex_v1.tracking.lineage import LineageApi
from footplate.api.vertex_v1.tracking.resources import Formatter, ResourcesApi
from footplate.api.vertex_v1.tracking.time_series import TimeSeriesApi
from footplate.control.jobs import Ids
from footplate.control.tracking import Lineage, Resources, TimeSeries
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import NotFound
from footplate.domain.tracking.names import (
    ARTIFACTS,
    CONTEXTS,
    EXECUTIONS,
    EXPERIMENTS,
    OUTER,
    RUNS,
    TENSORBOARDS,
    TIME_SERIES,
)
from footplate.ports.buckets import Buckets
from footplate.ports.clock import Clock
from footplate.ports.tracking import TrackingStore
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.tracking_kinds import KINDS, Kind
from footplate.wire.vertex_v1.tracking_operations import TrackingOperationId

# Long-running operations on metadata stores and TensorBoards: all are done when answered.
#
# None is kept: its name says what was done and when, so that it is found again after any restart.


class TrackingOperations:
    """Handlers that return operations on resources of one kind."""

    def __init__(self, kind: Kind, api: ResourcesApi, resources: Resources) -> None:
        self._kind = kind
        self._api = api
        self._resources = resources

    def get(self, call: Call) -> JsonObject:
        name, text = self._api.name(call), call.path["operation"]
        found = TrackingOperationId.parse(text)
        if found is not None and self._resources.exists(name) is (found.verb != "delete"):
            response = None if found.verb == "delete" else self._api.get(call)
            return found.answer(self._kind, name, response)
        raise NotFound(f"there is no operation {text[:200]!r} of {name}")


def tracking_routes(
    store: TrackingStore, clock: Clock, ids: Ids, catalogue: Catalogue, buckets: Buckets
) -> list[Route]:
    """Returns the routes of experiment tracking.

    Verbs come before resources, as the last path segment selects a route.
    """
    resources = Resources(store, clock, ids, buckets)
    lineage, series = Lineage(store), TimeSeries(store)
    formatter = Formatter(lineage, series)
    routes = []
    for kind in KINDS.values():
        api = ResourcesApi(kind, resources, formatter, catalogue, clock, "v1")
        operations = TrackingOperations(kind, api, resources)
        routes += done_operation_routes(_path(kind.collection), operations.get)
    for version in ("v1", "v1beta1"):
        links = LineageApi(lineage, formatter, clock)
        data = TimeSeriesApi(resources, series, formatter, clock)
        routes += [*_lineage_routes(links, version), *_data_routes(data, version)]
        for kind in KINDS.values():
            api = ResourcesApi(kind, resources, formatter, catalogue, clock, version)
            one, all_of_it = _url(version, kind.collection), _list_url(version, kind.collection)
            routes += [
                json_route(all_of_it, {"GET": api.list, "POST": api.create}),
                json_route(one, {"GET": api.get, "PATCH": api.patch, "DELETE": api.delete}),
            ]
    return routes


def _lineage_routes(api: LineageApi, version: str) -> list[Route]:
    context, execution = _url(version, CONTEXTS), _url(version, EXECUTIONS)
    artifact = _url(version, ARTIFACTS)
    return [
        json_route(f"{context}:addContextArtifactsAndExecutions", {"POST": api.add_members}),
        json_route(f"{context}:addContextChildren", {"POST": api.add_children}),
        json_route(f"{context}:removeContextChildren", {"POST": api.remove_children}),
        json_route(f"{context}:queryContextLineageSubgraph", {"GET": api.of_context}),
        json_route(f"{execution}:addExecutionEvents", {"POST": api.add_events}),
        json_route(f"{execution}:queryExecutionInputsAndOutputs", {"GET": api.of_execution}),
        json_route(f"{artifact}:queryArtifactLineageSubgraph", {"GET": api.of_artifact}),
    ]


def _data_routes(api: TimeSeriesApi, version: str) -> list[Route]:
    experiment, run, series = (_url(version, kind) for kind in (EXPERIMENTS, RUNS, TIME_SERIES))
    return [
        json_route(f"{_url(version, TENSORBOARDS)}:batchRead", {"GET": api.read_many}),
        json_route(f"{experiment}/runs:batchCreate", {"POST": api.create_runs}),
        json_route(f"{experiment}:batchCreate", {"POST": api.create_series}),
        json_route(f"{experiment}:write", {"POST": api.write_experiment}),
        json_route(f"{run}:write", {"POST": api.write_run}),
        json_route(f"{series}:read", {"GET": api.read}),
        json_route(f"{series}:exportTensorboardTimeSeries", {"POST": api.export}),
    ]


def _url(version: str, kind: str) -> str:
    return f"{_list_url(version, kind)}/{{{kind}}}"


def _list_url(version: str, kind: str) -> str:
    return f"/{version}/projects/{{project}}/locations/{{location}}{_list_path(kind)}"


def _path(kind: str) -> str:
    """Returns the URL path, below a location, of a resource of this kind."""
    return f"{_list_path(kind)}/{{{kind}}}"


def _list_path(kind: str) -> str:
    outer = OUTER[kind]
    return f"{_path(outer) if outer else ''}/{kind}"
