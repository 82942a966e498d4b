"""``projects.locations.datasets`` of aiplatform v1."""

from __future__ import annotations

import re
from functools import partial

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.api.operations import done_operation_routes
from footplate.api.vertex_v1.tracking.resources import Formatter, ResourcesApi, name_of
from footplate.api.vertex_v1.tracking.routes import TrackingOperations
from footplate.control.datasets import Datasets
from footplate.control.jobs import Ids
from footplate.control.tracking import Lineage, Resources, TimeSeries
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.export_folders import export_folder
from footplate.domain.names import DatasetName
from footplate.domain.tracking.names import DATASETS, TrackingName
from footplate.ports.clock import Clock
from footplate.ports.pages import items_of
from footplate.ports.tracking import TrackingStore
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject
from footplate.wire.list_order import in_order
from footplate.wire.paging import cut_page, list_json
from footplate.wire.vertex_v1.dataset_requests import (
    DATASET_ORDERS,
    read_export,
    read_import,
    without_ignored,
)
from footplate.wire.vertex_v1.dataset_responses import operation_json
from footplate.wire.vertex_v1.queries import PAGES
from footplate.wire.vertex_v1.rules.datasets import check_formats
from footplate.wire.vertex_v1.tracking_filters import parse_tracking_filter
from footplate.wire.vertex_v1.tracking_kinds import DATASET

_OPERATION = re.compile(r"(import|export)-([1-9][0-9]{0,8})")
_AT_ONCE = 1000


class DatasetsApi(ResourcesApi):
    """The handlers of datasets, one for each API method, for the API ``version``."""

    def __init__(
        self,
        datasets: Datasets,
        resources: Resources,
        formatter: Formatter,
        catalogue: Catalogue,
        clock: Clock,
        version: str,
    ) -> None:
        super().__init__(DATASET, resources, formatter, catalogue, clock, version)
        self._datasets = datasets

    def list(self, call: Call) -> JsonObject:
        """Returns a page of datasets; with ``orderBy``, sorted out of all: projects have few."""
        order = call.parameter("orderBy", "order_by") or ""
        if not order.strip():
            return super().list(call)
        collection = name_of(call, "").inner(DATASETS, "").collection
        text = call.parameter("filter") or ""
        asked = f"{collection}?{text}&{order}"
        where = parse_tracking_filter(text, DATASETS)
        read = partial(self._resources.list, collection, where=where, limit=_AT_ONCE)
        size = PAGES.size(call.parameter("pageSize", "page_size"))
        ordered = in_order(items_of(read), order, DATASET_ORDERS)
        token = call.parameter("pageToken", "page_token")
        found, more = cut_page(ordered, size, token, asked)
        return list_json(DATASET.listed, [*self._formatter.all(DATASET, found)], more, asked)

    def import_files(self, call: Call) -> JsonObject:
        name, files = dataset_name(call), read_import(call.body())
        dataset = self._datasets.get(name)
        if dataset.is_tabular:
            raise FailedPrecondition(
                f"{name} is tabular: it has the files in metadata.inputConfig.gcsSource.uri, and "
                "imports none. Create another dataset to change them"
            )
        refuse(tuple(check_formats(files, dataset.data_type)))
        return operation_json(name, self._datasets.import_files(name, files, self._version))

    def export(self, call: Call) -> JsonObject:
        """Starts an export, which writes its files after the answer."""
        name, asked = dataset_name(call), read_export(call.body())
        display_name = self._datasets.get(name).display_name
        folder = export_folder(asked.prefix, "export-data", display_name, self._clock.now())
        begun = self._datasets.export(name, folder, asked.config, self._version)
        return operation_json(name, begun)

    def operation(self, call: Call) -> JsonObject:
        """Returns an operation of a dataset: those that are kept have a number as their id."""
        if match := _OPERATION.fullmatch(call.path["operation"]):
            name = dataset_name(call)
            found = self._datasets.operation(name, int(match[2]))
            if found.kind.value == match[1]:
                return operation_json(name, found)
            raise NotFound(f"{name} has no {match[1]} with the number {match[2]}")
        return TrackingOperations(DATASET, self, self._resources).get(call)

    def _body(self, call: Call) -> JsonObject:
        return without_ignored(call.body())


def dataset_name(call: Call) -> DatasetName:
    name: TrackingName = name_of(call, DATASETS)
    return DatasetName(name.project, name.location, name.id)


def dataset_routes(
    store: TrackingStore, datasets: Datasets, clock: Clock, ids: Ids, catalogue: Catalogue
) -> list[Route]:
    """Returns the routes of datasets, verbs first: the last path segment selects a route."""
    resources = Resources(store, clock, ids)
    formatter = Formatter(Lineage(store), TimeSeries(store))
    routes: list[Route] = []
    for version in ("v1", "v1beta1"):
        api = DatasetsApi(datasets, resources, formatter, catalogue, clock, version)
        if not routes:
            routes += done_operation_routes(f"/{DATASETS}/{{{DATASETS}}}", api.operation)
        path = f"/{version}/projects/{{project}}/locations/{{location}}/{DATASETS}"
        one = f"{path}/{{{DATASETS}}}"
        routes += [
            json_route(path, {"GET": api.list, "POST": api.create}),
            json_route(f"{one}:import", {"POST": api.import_files}),
            json_route(f"{one}:export", {"POST": api.export}),
            json_route(one, {"GET": api.get, "PATCH": api.patch, "DELETE": api.delete}),
        ]
    return routes
