"""Routes of Footplate's own API: where there are experiments, TensorBoards, datasets or models."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.wire.json_text import JsonObject


def place_routes(*collections: Callable[[], tuple[str, ...]]) -> list[Route]:
    """Returns the route that lists projects and regions in use.

    ``collections`` return names such as ``projects/P/locations/R/KIND``.
    """

    def show(_call: Call) -> JsonObject:
        names = (name.split("/") for each in collections for name in each())
        places = sorted({(parts[1], parts[3]) for parts in names})
        return {"places": [{"project": project, "region": region} for project, region in places]}

    return [json_route("/footplate/v1/places", {"GET": show})]
