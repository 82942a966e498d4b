"""Client of regions: lists them, and checks their engines."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from footplate.client.http_client import Connection
from footplate.wire.json_text import JsonObject, objects


@dataclass(frozen=True)
class Regions:
    """The client for regions. It returns JSON with ``name``, ``backend``, ``facts``, ..."""

    _connection: Connection

    def list(self) -> list[JsonObject]:
        """Returns the regions; ``*`` stands for all regions that the settings don't name."""
        return objects(self._connection.call("GET", "/footplate/v1/regions").get("regions"))

    def check(self, region: str) -> JsonObject:
        """Checks a region's engine now, by a job there, too; returns the report. Raises NotFound.

        The server limits the time.
        """
        path = f"/footplate/v1/regions/{quote(region, safe='')}/check"
        return self._connection.call("GET", path, unlimited=True)
