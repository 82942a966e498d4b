"""The URLs of ModelService."""

from __future__ import annotations

from starlette.routing import Route

from footplate.api.json_route import json_route
from footplate.api.vertex_v1.model_operations import model_operation_routes
from footplate.api.vertex_v1.models import ModelsApi
from footplate.control.models import ModelRegistry
from footplate.domain.catalogue import Catalogue
from footplate.ports.clock import Clock


def model_routes(registry: ModelRegistry, clock: Clock, catalogue: Catalogue) -> list[Route]:
    """Returns the routes of models, verbs first: the last path segment selects a route."""
    routes = model_operation_routes(registry)
    for version in ("v1", "v1beta1"):
        api = ModelsApi(registry, clock, catalogue, version)
        path = f"/{version}/projects/{{project}}/locations/{{location}}/models"
        one = f"{path}/{{model}}"
        routes += [
            json_route(f"{path}:upload", {"POST": api.upload}),
            json_route(path, {"GET": api.list}),
            json_route(f"{one}:listVersions", {"GET": api.list_versions}),
            json_route(f"{one}:deleteVersion", {"DELETE": api.delete_version}),
            json_route(f"{one}:mergeVersionAliases", {"POST": api.merge_aliases}),
            json_route(f"{one}:export", {"POST": api.export}),
            json_route(one, {"GET": api.get, "PATCH": api.patch, "DELETE": api.delete}),
        ]
    return routes
