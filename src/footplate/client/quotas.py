"""Client of quotas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.client.http_client import Connection
from footplate.wire.footplate_v1.quotas import Quota
from footplate.wire.footplate_v1.quotas import Quotas as Answer

if TYPE_CHECKING:
    from pydantic import JsonValue


@dataclass(frozen=True)
class Quotas:
    """The client of ``/footplate/v1/quotas``, and of ``quota`` of a project in a region."""

    _connection: Connection

    def list(self) -> tuple[Quota, ...]:
        """Returns a quota for each project and region that has one; ``*`` comes first."""
        return Answer.decode(self._connection.call("GET", "/footplate/v1/quotas")).quotas

    def get(self, project: str, region: str) -> Quota:
        return Quota.decode(self._connection.call("GET", _path(project, region)))

    def change(self, project: str, region: str, limits: Mapping[str, int | None]) -> Quota:
        """Sets these limits (None removes one), and keeps all others. Raises InvalidArgument."""
        body: dict[str, JsonValue] = {"limits": dict(limits)}
        return Quota.decode(self._connection.call("PATCH", _path(project, region), body=body))

    def remove(self, project: str, region: str) -> Quota:
        """Removes all limits of exactly this project and region; returns those then in force."""
        return Quota.decode(self._connection.call("DELETE", _path(project, region)))


def _path(project: str, region: str) -> str:
    place = f"projects/{quote(project, safe='')}/locations/{quote(region, safe='')}"
    return f"/footplate/v1/{place}/quota"
