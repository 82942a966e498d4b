"""How much the jobs of one project may hold at once in one region."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ANY = "*"


@dataclass(frozen=True)
class Quota:
    """Limits by resource: ``vcpus``, ``jobs``, and accelerators by their API names.

    ``project`` or ``region`` may be ``*``: then the limits hold for each of them by itself.
    """

    project: str
    region: str
    limits: Mapping[str, int] = field(default_factory=dict)


class Quotas:
    """All quotas that there are. Of several that say something the most specific one counts.

    Order: the project's in the region, the project's in ``*``, ``*``'s in the region, ``*`` in
    ``*``; for each resource by itself. A resource that none of them names has no limit.
    """

    def __init__(self, quotas: tuple[Quota, ...] = ()) -> None:
        self._limits = {(quota.project, quota.region): quota.limits for quota in quotas}

    def limit(self, project: str, region: str, resource: str) -> int | None:
        for key in ((project, region), (project, ANY), (ANY, region), (ANY, ANY)):
            limit = self._limits.get(key, {}).get(resource)
            if limit is not None:
                return limit
        return None

    def limits(self, project: str, region: str) -> dict[str, int]:
        """Every limit that holds there."""
        found: dict[str, int] = {}
        for key in ((ANY, ANY), (ANY, region), (project, ANY), (project, region)):
            found.update(self._limits.get(key, {}))
        return found
