"""Values of quotas, and how the most specific one is found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from footplate.domain.resources import say_amount

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ANY = "*"


@dataclass(frozen=True)
class Quota:
    """Limits by resource: ``vcpus``, ``jobs``, and accelerators by their API names.

    ``project`` or ``region`` may be ``*``: then the limits hold for each of them by itself.
    """

    project: str
    region: str
    limits: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Limit:
    """A limit that holds somewhere, and whose it is: the quota's project and region."""

    amount: int
    project: str
    region: str


class Quotas:
    """All quotas. The most specific one for a resource counts.

    Order: the project's in the region, the project's in ``*``, ``*``'s in the region, ``*`` in
    ``*``; for each resource by itself. A resource that none of them names has no limit. Of two
    for the same project and region the later one counts, again for each resource by itself.

    Asked about ``*``, all methods answer for a project, or a region, that nothing else names.
    """

    def __init__(self, quotas: Iterable[Quota] = ()) -> None:
        self._limits: dict[tuple[str, str], dict[str, int]] = {}
        for quota in quotas:
            self._limits.setdefault((quota.project, quota.region), {}).update(quota.limits)

    def __iter__(self) -> Iterator[Quota]:
        """One for each project and region that has any, in order; ``*`` comes first."""
        for project, region in sorted(self._limits):
            yield Quota(project, region, dict(self._limits[project, region]))

    def limit(self, project: str, region: str, resource: str) -> int | None:
        for scope in _scopes(project, region):
            limit = self._limits.get(scope, {}).get(resource)
            if limit is not None:
                return limit
        return None

    def limits(self, project: str, region: str) -> dict[str, int]:
        """Every limit that holds there."""
        found = self.in_force(project, region)
        return {resource: limit.amount for resource, limit in found.items()}

    def in_force(self, project: str, region: str) -> dict[str, Limit]:
        """Every limit that holds there, and whose it is."""
        found: dict[str, Limit] = {}
        for scope in reversed(_scopes(project, region)):
            for resource, amount in self._limits.get(scope, {}).items():
                found[resource] = Limit(amount, *scope)
        return found


def exceeded(
    counts: Mapping[str, int], project: str, region: str, quotas: Quotas
) -> tuple[str, ...]:
    """Why a job that counts so much can never start there: a sentence for each resource."""
    limits = quotas.limits(project, region)
    over = (r for r in sorted(counts) if r in limits and counts[r] > limits[r])
    return tuple(_too_much(r, counts[r], limits[r], project, region) for r in over)


def _scopes(project: str, region: str) -> tuple[tuple[str, str], ...]:
    """Where limits for a project in a region may come from, the most specific first."""
    return (project, region), (project, ANY), (ANY, region), (ANY, ANY)


def _too_much(resource: str, count: int, limit: int, project: str, region: str) -> str:
    # The project's own quota in the region beats all others, so raising that one always helps.
    command = f"footplate quotas set {resource}={count} --project={project} --region={region}"
    return (
        f"asks for {say_amount(resource, count)}; project {project} may hold "
        f"{say_amount(resource, limit)} in {region}; raise it with `{command}`"
    )
