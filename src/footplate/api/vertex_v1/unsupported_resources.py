"""Lists of aiplatform v1 that clients ask for beside training, which are empty here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import json_route

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.wire.json_text import JsonObject


def absent_routes(location: str) -> list[Route]:
    """``location`` is the URL of a location."""
    runs = f"{location}/tensorboards/{{tensorboard}}/experiments/{{experiment}}/runs"
    return [json_route(runs, {"GET": _nothing})]


def _nothing(_call: Call) -> JsonObject:
    return {}
