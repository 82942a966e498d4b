"""The regions, in a shape that the clients of both faces take.

ml v1 and aiplatform v1 share these URLs; under ``/ui``, where the answer is parsed strictly,
there is only what google.cloud.location knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.domain.errors import NotFound
from footplate.domain.names import check_project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.wire.json_text import JsonObject


def location_routes(regions: Sequence[str]) -> list[Route]:
    routes = []
    for prefix, strict in (("/v1", False), ("/v1beta1", False), ("/ui", True)):
        api = _Locations(regions, strict=strict)
        path = f"{prefix}/projects/{{project}}/locations"
        routes.append(json_route(path, {"GET": api.list}))
        routes.append(json_route(f"{path}/{{location}}", {"GET": api.get}))
    return routes


class _Locations:
    def __init__(self, regions: Sequence[str], *, strict: bool) -> None:
        self._regions = regions
        self._strict = strict

    def list(self, call: Call) -> JsonObject:
        project = call.path["project"]
        check_project(project)
        return {"locations": [self._location(project, region) for region in self._regions]}

    def get(self, call: Call) -> JsonObject:
        project, region = call.path["project"], call.path["location"]
        check_project(project)
        if region not in self._regions:
            known = ", ".join(self._regions)
            raise NotFound(f"there is no location {region[:100]!r} here; there are: {known}")
        return self._location(project, region)

    def _location(self, project: str, region: str) -> JsonObject:
        name = f"projects/{project}/locations/{region}"
        location: JsonObject = {"name": name, "locationId": region}
        if not self._strict:
            location["capabilities"] = [{"type": "TRAINING"}]
        return location
