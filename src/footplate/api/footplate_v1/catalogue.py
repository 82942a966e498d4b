"""Routes of Footplate's own API: the catalogue."""

from __future__ import annotations

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.catalogue import Catalogue
from footplate.wire.catalogue import encode_catalogue
from footplate.wire.json_text import JsonObject


def catalogue_routes(catalogue: Catalogue) -> list[Route]:
    """Returns the route ``GET /footplate/v1/catalogue``: all of it in one document."""
    document = encode_catalogue(catalogue)

    def get(_call: Call) -> JsonObject:
        return document

    return [json_route("/footplate/v1/catalogue", {"GET": get})]
