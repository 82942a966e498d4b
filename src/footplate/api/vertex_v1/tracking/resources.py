"""The methods that all resources of metadata stores and TensorBoards have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from footplate.api.json_route import Call
from footplate.api.vertex_v1.parents import location_of
from footplate.control.tracking import Lineage, Resources, TimeSeries
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.machines import unknown_region
from footplate.domain.tracking.names import CONTEXTS, OUTER, TIME_SERIES, TrackingName
from footplate.domain.tracking.resources import Resource
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject
from footplate.wire.paging import list_json, parse_token
from footplate.wire.vertex_v1.queries import PAGES
from footplate.wire.vertex_v1.tracking_filters import parse_tracking_filter, read_order
from footplate.wire.vertex_v1.tracking_kinds import Kind
from footplate.wire.vertex_v1.tracking_operations import TrackingOperationId
from footplate.wire.vertex_v1.tracking_requests import read_id, read_new, read_patch
from footplate.wire.vertex_v1.tracking_responses import resource_json


class Formatter:
    """Formats resources as JSON, and adds parents and extents, which are stored elsewhere."""

    def __init__(self, lineage: Lineage, series: TimeSeries) -> None:
        self._lineage = lineage
        self._series = series

    def all(self, kind: Kind, resources: Sequence[Resource]) -> list[JsonObject]:
        names = [resource.name for resource in resources]
        parents = self._lineage.parents(names) if kind.collection == CONTEXTS else {}
        extents = self._series.extents(names) if kind.collection == TIME_SERIES else {}
        return [
            resource_json(kind, each, parents.get(each.name, ()), extents.get(each.name))
            for each in resources
        ]

    def one(self, kind: Kind, resource: Resource) -> JsonObject:
        return self.all(kind, (resource,))[0]


class ResourcesApi:
    """The handlers of one kind of resource, one per API method, for the API ``version``."""

    def __init__(
        self,
        kind: Kind,
        resources: Resources,
        formatter: Formatter,
        catalogue: Catalogue,
        clock: Clock,
        version: str,
    ) -> None:
        self._kind = kind
        self._resources = resources
        self._formatter = formatter
        self._catalogue = catalogue
        self._clock = clock
        self._version = version

    def create(self, call: Call) -> JsonObject:
        kind, outer = self._kind, name_of(call, OUTER[self._kind.collection])
        if outer.location not in self._catalogue.regions:
            said = unknown_region(outer.location, self._catalogue)
            raise InvalidArgument.of((Violation("parent", said),))
        given = read_id(kind, call.parameter(kind.id_field, kind.id_field_snake))
        name = outer.inner(kind.collection, given or self._resources.new_id())
        resource = self._resources.create(name, read_new(kind, self._body(call)))
        return self._answer("create", resource)

    def get(self, call: Call) -> JsonObject:
        return self._formatter.one(self._kind, self._resources.get(self.name(call)))

    def list(self, call: Call) -> JsonObject:
        """Returns a page of a parent's resources; an empty one if the parent doesn't exist."""
        kind, outer = self._kind, name_of(call, OUTER[self._kind.collection])
        collection = outer.inner(kind.collection, "").collection
        text, order = call.parameter("filter") or "", call.parameter("orderBy", "order_by") or ""
        asked = f"{collection}?{text}&{order}"
        page = self._resources.list(
            collection,
            where=parse_tracking_filter(text, kind.collection),
            limit=PAGES.size(call.parameter("pageSize", "page_size")),
            after=parse_token(call.parameter("pageToken", "page_token"), asked),
            oldest_first=read_order(order),
        )
        found = [*self._formatter.all(kind, page.items)]
        return list_json(kind.listed, found, page.next_key, asked)

    def patch(self, call: Call) -> JsonObject:
        """Changes a resource; ``allowMissing`` creates a missing one of a kind with metadata."""
        name, body = self.name(call), self._body(call)
        missing = (call.parameter("allowMissing", "allow_missing") or "").casefold() == "true"
        if missing and self._kind.is_node and not self._resources.exists(name):
            read_id(self._kind, name.id)
            return self._answer("create", self._resources.create(name, read_new(self._kind, body)))
        patch = read_patch(self._kind, body, call.parameter("updateMask", "update_mask"))
        resource = self._resources.patch(name, patch.given, patch.names, patch.etag)
        return self._answer("update", resource)

    def delete(self, call: Call) -> JsonObject:
        name = self.name(call)
        self._resources.delete(name, call.parameter("etag"))
        operation = TrackingOperationId("delete", self._version, self._clock.now())
        return operation.answer(self._kind, name, None)

    def name(self, call: Call) -> TrackingName:
        return name_of(call, self._kind.collection)

    def _body(self, call: Call) -> JsonObject:
        """Returns the body of a create or a patch."""
        return call.body()

    def _answer(self, verb: str, resource: Resource) -> JsonObject:
        answer = self._formatter.one(self._kind, resource)
        if verb not in self._kind.operations:
            return answer
        operation = TrackingOperationId(verb, self._version, resource.update_time)
        return operation.answer(self._kind, resource.name, answer)


def name_of(call: Call, kind: str) -> TrackingName:
    """Returns the name of the resource of this ``kind`` in the URL; of the location if ``kind`` is
    empty.

    Raises InvalidArgument if the project or region is impossible.
    """
    here = location_of(call)
    return TrackingName(here.project, here.location, tuple(_path(call.path, kind)))


def _path(given: Mapping[str, str], kind: str) -> list[str]:
    return [*_path(given, OUTER[kind]), kind, given[kind]] if kind else []
