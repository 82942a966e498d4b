"""Client of quotas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.domain.errors import UnknownError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from footplate.client.http_client import Connection


@dataclass(frozen=True)
class ResourceQuota:
    """The quota of one resource.

    ``limit`` is None if there is none. ``used`` is None if each project or region counts by itself.
    ``project`` and ``region`` are those of the quota that sets the limit; ``source`` is SETTINGS
    or, for a limit set since then, STORED. They are empty without a limit.
    """

    name: str
    limit: int | None
    used: int | None
    project: str = ""
    region: str = ""
    source: str = ""


@dataclass(frozen=True)
class Quota:
    """The limits in force for a project in a region; ``resource`` is the server's JSON."""

    project: str
    region: str
    resources: tuple[ResourceQuota, ...]
    resource: Mapping[str, JsonValue]

    @classmethod
    def read(cls, resource: Mapping[str, JsonValue]) -> Quota:
        limits, used, origins = (_object(resource, k) for k in ("limits", "used", "origins"))
        return cls(
            project=_text(resource, "project"),
            region=_text(resource, "region"),
            resources=tuple(
                ResourceQuota(
                    name, _number(limits, name), _number(used, name), **_origin(origins, name)
                )
                for name in sorted(limits.keys() | used.keys())
            ),
            resource=resource,
        )


class Quotas:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self) -> tuple[Quota, ...]:
        """Returns a quota for each project and region that has one; ``*`` comes first."""
        found = self._connection.call("GET", "/footplate/v1/quotas").get("quotas")
        quotas = found if isinstance(found, list) else []
        return tuple(Quota.read(quota) for quota in quotas if isinstance(quota, dict))

    def get(self, project: str, region: str) -> Quota:
        return Quota.read(self._connection.call("GET", _path(project, region)))

    def change(self, project: str, region: str, limits: Mapping[str, int | None]) -> Quota:
        """Sets these limits (None removes one), and keeps all others. Raises InvalidArgument."""
        body: dict[str, JsonValue] = {"limits": dict(limits)}
        return Quota.read(self._connection.call("PATCH", _path(project, region), body=body))

    def remove(self, project: str, region: str) -> Quota:
        """Removes all limits of exactly this project and region; returns those then in force."""
        return Quota.read(self._connection.call("DELETE", _path(project, region)))


def _path(project: str, region: str) -> str:
    place = f"projects/{quote(project, safe='')}/locations/{quote(region, safe='')}"
    return f"/footplate/v1/{place}/quota"


def _origin(origins: Mapping[str, JsonValue], name: str) -> dict[str, str]:
    origin = _object(origins, name)
    return {key: _text(origin, key) for key in ("project", "region", "source")}


def _object(resource: Mapping[str, JsonValue], key: str) -> Mapping[str, JsonValue]:
    value = resource.get(key)
    return value if isinstance(value, dict) else {}


def _text(resource: Mapping[str, JsonValue], key: str) -> str:
    value = resource.get(key)
    return value if isinstance(value, str) else ""


def _number(resource: Mapping[str, JsonValue], key: str) -> int | None:
    value = resource.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise UnknownError(f"the server sent {key}={value!r}, not a number")
