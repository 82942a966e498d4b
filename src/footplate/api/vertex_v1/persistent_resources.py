"""``projects.locations.persistentResources`` of aiplatform v1."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.api.operations import deleted, done_operation_routes
from footplate.api.vertex_v1.parents import location_of
from footplate.control.jobs import Ids
from footplate.control.persistent_resources import PersistentResources
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.machines import unknown_region
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource, ResourceState
from footplate.domain.timestamps import from_micros, to_micros
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject
from footplate.wire.paging import list_json, parse_token
from footplate.wire.timestamps import format_time
from footplate.wire.vertex_v1.persistent_resources import read_patch, read_resource, resource_json
from footplate.wire.vertex_v1.queries import PAGES


class PersistentResourcesApi:
    """The handlers of persistent resources, one per API method, for the API ``version``."""

    def __init__(
        self,
        resources: PersistentResources,
        clock: Clock,
        ids: Ids,
        catalogue: Catalogue,
        version: str = "v1",
    ) -> None:
        self._resources = resources
        self._clock = clock
        self._ids = ids
        self._catalogue = catalogue
        self._version = version

    def create(self, call: Call) -> JsonObject:
        where, now = location_of(call), self._clock.now()
        if where.location not in self._catalogue.regions:
            said = unknown_region(where.location, self._catalogue)
            raise InvalidArgument.of((Violation("parent", said),))
        resource_id = call.parameter("persistentResourceId", "persistent_resource_id")
        resource = read_resource(
            call.body(), resource_id, where, self._catalogue, self._ids.uid(), now
        )
        return self._operation("create", self._resources.create(resource))

    def get(self, call: Call) -> JsonObject:
        return self._answer(self._resources.get(resource_name(call)))

    def list(self, call: Call) -> JsonObject:
        here = location_of(call)
        collection = PersistentResourceName(here.project, here.location, "").collection
        page = self._resources.list(
            collection,
            limit=PAGES.size(call.parameter("pageSize", "page_size")),
            after=parse_token(call.parameter("pageToken", "page_token"), collection),
        )
        found = [self._answer(each) for each in page.items]
        return list_json("persistentResources", found, page.next_key, collection)

    def patch(self, call: Call) -> JsonObject:
        patch = read_patch(call.body(), call.parameter("updateMask", "update_mask"))
        return self._operation("update", self._resources.patch(resource_name(call), patch))

    def reboot(self, call: Call) -> JsonObject:
        call.check_empty()
        return self._operation("reboot", self._resources.reboot(resource_name(call)))

    def delete(self, call: Call) -> JsonObject:
        resource = self._resources.delete(resource_name(call))
        now = self._clock.now()
        return ResourceOperationId("delete", self._version, now).answer(resource.name, resource)

    def get_operation(self, call: Call) -> JsonObject:
        """Returns an operation on a persistent resource. Raises NotFound."""
        name, text = resource_name(call), call.path["operation"]
        found, resource = ResourceOperationId.parse(text), self._resources.find(name)
        if found is None or not found.may_be_of(resource):
            raise NotFound(f"there is no operation {text[:200]!r} of {name}")
        return self._say(found, name, resource)

    def _operation(self, kind: str, resource: PersistentResource) -> JsonObject:
        operation = ResourceOperationId(kind, self._version, resource.update_time)
        return self._say(operation, resource.name, resource)

    def _say(
        self,
        operation: ResourceOperationId,
        name: PersistentResourceName,
        resource: PersistentResource | None,
    ) -> JsonObject:
        answer = operation.answer(name, resource)
        if answer["done"] and resource is not None and operation.kind != "delete":
            return operation.with_response(answer, self._answer(resource))
        why = self._resources.explain(name)
        return operation.with_progress(answer, why.text if why is not None else "")

    def _answer(self, resource: PersistentResource) -> JsonObject:
        return resource_json(resource, self._resources.used(resource.name), self._catalogue)


def resource_name(call: Call) -> PersistentResourceName:
    """Returns the resource's name. Raises InvalidArgument if its location is impossible."""
    here = location_of(call)
    return PersistentResourceName(here.project, here.location, call.path["persistentResource"])


def persistent_resource_routes(
    resources: PersistentResources, clock: Clock, ids: Ids, catalogue: Catalogue
) -> list[Route]:
    """Returns the routes of persistent resources.

    Verbs come before resources, as the last path segment selects a route.
    """
    operations = PersistentResourcesApi(resources, clock, ids, catalogue).get_operation
    routes = done_operation_routes("/persistentResources/{persistentResource}", operations)
    for version in ("v1", "v1beta1"):
        api = PersistentResourcesApi(resources, clock, ids, catalogue, version)
        path = f"/{version}/projects/{{project}}/locations/{{location}}/persistentResources"
        one = f"{path}/{{persistentResource}}"
        routes += [
            json_route(path, {"GET": api.list, "POST": api.create}),
            json_route(f"{one}:reboot", {"POST": api.reboot}),
            json_route(one, {"GET": api.get, "PATCH": api.patch, "DELETE": api.delete}),
        ]
    return routes


_ID = re.compile(r"([1-9][0-9]{0,16})([0-3])([01])")
"""Microseconds, the kind and the version of the API. gcloud reads a number."""
_KINDS = ("create", "update", "reboot", "delete")
_VERSIONS = ("v1", "v1beta1")
_TYPES = "type.googleapis.com/google.cloud.aiplatform"
_UNDER_WAY = {
    "create": ResourceState.PROVISIONING,
    "update": ResourceState.UPDATING,
    "reboot": ResourceState.REBOOTING,
}
"""The state of the resource while the operation isn't done."""


@dataclass(frozen=True)
class ResourceOperationId:
    kind: str
    api_version: str
    at: datetime

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Returns the parsed id; None if no operation has such an id."""
        match = _ID.fullmatch(text)
        if match is None:
            return None
        return cls(_KINDS[int(match[2])], _VERSIONS[int(match[3])], from_micros(int(match[1])))

    def __str__(self) -> str:
        kind, version = _KINDS.index(self.kind), _VERSIONS.index(self.api_version)
        return f"{to_micros(self.at)}{kind}{version}"

    def may_be_of(self, resource: PersistentResource | None) -> bool:
        """Returns whether the operation can belong to a resource in its present state."""
        if self.kind == "delete":
            return resource is None or self._deletes(resource) or self.at < resource.create_time
        return resource is not None and resource.create_time <= self.at

    def answer(
        self, name: PersistentResourceName, resource: PersistentResource | None
    ) -> JsonObject:
        operation = f"{name}/operations/{self}"
        if self.kind == "delete":
            done = deleted(operation, self.at, self.api_version)
            if resource is None or not self._deletes(resource):
                return done
            return {**{key: done[key] for key in ("name", "metadata")}, "done": False}
        time = format_time(self.at)
        kind = f"{self.kind.capitalize()}PersistentResourceOperationMetadata"
        return {
            "name": operation,
            "metadata": {
                "@type": f"{_TYPES}.{self.api_version}.{kind}",
                "genericMetadata": {"createTime": time, "updateTime": time},
            },
            "done": resource is not None and resource.state is not _UNDER_WAY[self.kind],
        }

    def with_response(self, answer: JsonObject, resource: JsonObject) -> JsonObject:
        kind = f"{_TYPES}.{self.api_version}.PersistentResource"
        return {**answer, "response": {"@type": kind, **resource}}

    def with_progress(self, answer: JsonObject, text: str) -> JsonObject:
        if answer["done"] or self.kind == "delete" or not text:
            return answer
        metadata: Any = answer["metadata"]
        return {**answer, "metadata": {**metadata, "progressMessage": text}}

    def _deletes(self, resource: PersistentResource) -> bool:
        return resource.state is ResourceState.STOPPING and resource.create_time <= self.at
