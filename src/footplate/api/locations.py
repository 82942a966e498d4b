"""Locations (regions), in a format that the clients of both APIs accept.

ml v1 and aiplatform v1 share these URLs; under ``/ui``, where the answer is parsed strictly,
there is only what google.cloud.location knows.
"""

from __future__ import annotations

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.catalogue import Catalogue, Region
from footplate.domain.errors import NotFound
from footplate.domain.formatting import nearest, quoted
from footplate.domain.names import check_project
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.enums import AcceleratorType


def location_routes(catalogue: Catalogue) -> list[Route]:
    routes = []
    for prefix, strict in (("/v1", False), ("/v1beta1", False), ("/ui", True)):
        api = _Locations(catalogue, strict=strict)
        path = f"{prefix}/projects/{{project}}/locations"
        routes.append(json_route(path, {"GET": api.list}))
        routes.append(json_route(f"{path}/{{location}}", {"GET": api.get}))
    return routes


class _Locations:
    def __init__(self, catalogue: Catalogue, *, strict: bool) -> None:
        self._regions = catalogue.regions
        self._strict = strict

    def list(self, call: Call) -> JsonObject:
        project = call.path["project"]
        check_project(project)
        return {"locations": [self._location(project, r) for r in self._regions.values()]}

    def get(self, call: Call) -> JsonObject:
        project, name = call.path["project"], call.path["location"]
        check_project(project)
        region = self._regions.get(name)
        if region is None:
            hint = nearest(name, self._regions, "locations")
            raise NotFound(f"there is no location {quoted(name)} here; {hint}")
        return self._location(project, region)

    def _location(self, project: str, region: Region) -> JsonObject:
        name = f"projects/{project}/locations/{region.name}"
        location: JsonObject = {"name": name, "locationId": region.name}
        if not self._strict:
            location["capabilities"] = [_training(region)]
        return location


def _training(region: Region) -> JsonObject:
    """Returns ml v1's training capability, with the accelerators that ml v1 has a name for."""
    capability: JsonObject = {"type": "TRAINING"}
    known = [kind.name for kind in AcceleratorType if kind.name in region.accelerators]
    if known:
        capability["availableAccelerators"] = [*known]
    return capability
