"""Client of the catalogue and of ml v1's locations."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from footplate.client.http_client import Connection
    from footplate.wire.json_text import JsonObject


class Offers:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def catalogue(self) -> JsonObject:
        """All of it: lists of resources under machineTypes, accelerators, regions, ..."""
        return self._connection.call("GET", "/footplate/v1/catalogue")

    def locations(self, project: str) -> list[JsonObject]:
        """What ml v1 says of each region."""
        answer = self._connection.call("GET", f"/v1/projects/{quote(project, safe='')}/locations")
        found = answer.get("locations")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def location(self, project: str, region: str) -> JsonObject:
        """Raises NotFound."""
        place = f"projects/{quote(project, safe='')}/locations/{quote(region, safe='')}"
        return self._connection.call("GET", f"/v1/{place}")
