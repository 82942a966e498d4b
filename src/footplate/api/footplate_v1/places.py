"""Routes of Footplate's own API: where there are experiments, TensorBoards or models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from footplate.api.json_route import json_route

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.wire.json_text import JsonObject


class Collections(Protocol):
    """A store of resources of projects and regions."""

    def collections(self) -> tuple[str, ...]:
        """``projects/P/locations/R/KIND`` of those that it has."""
        ...


def place_routes(*stores: Collections) -> list[Route]:
    def show(_call: Call) -> JsonObject:
        names = (name.split("/") for store in stores for name in store.collections())
        places = sorted({(parts[1], parts[3]) for parts in names})
        return {"places": [{"project": project, "region": region} for project, region in places]}

    return [json_route("/footplate/v1/places", {"GET": show})]
