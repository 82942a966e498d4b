"""``projects.locations.persistentResources`` of aiplatform v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.api.operations import done_operation_routes
from footplate.api.vertex_v1.parents import location_of
from footplate.api.vertex_v1.resource_operations import (
    ResourceOperationId,
)
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.machines import unknown_region
from footplate.domain.names import PersistentResourceName
from footplate.wire.paging import list_json, parse_token
from footplate.wire.vertex_v1.persistent_resources import read_patch, read_resource, resource_json
from footplate.wire.vertex_v1.queries import PAGES

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.control.jobs import Ids
    from footplate.control.persistent_resources import PersistentResources
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.persistent_resources import PersistentResource
    from footplate.ports.clock import Clock
    from footplate.wire.json_text import JsonObject


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
