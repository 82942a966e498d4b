"""Health and metrics: routes that belong to no API."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from pydantic import JsonValue


def health_routes(
    version: str, registry: CollectorRegistry, probe: Callable[[], Mapping[str, JsonValue]]
) -> list[Route]:
    """Returns the routes ``/healthz`` and ``/metrics``.

    ``probe`` returns details of a healthy service, and raises Unavailable otherwise.
    """

    def health(_call: Call) -> JsonObject:
        return {"status": "ok", "version": version, **probe()}

    def metrics(_request: Request) -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return [
        json_route("/healthz", {"GET": health}),
        Route("/metrics", metrics, methods=["GET"]),
    ]
