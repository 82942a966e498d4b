"""The free amount of each resource: of a site's capacity, and of its projects' quotas."""

from __future__ import annotations

import math

from footplate.domain.admission.claims import Claim
from footplate.domain.quotas import Quotas
from footplate.domain.resources import Amounts

Resource = str | tuple[str, str, str]
"""A resource of the site, or the project, region and resource of a quota."""
Needs = tuple[tuple[Resource, int], ...]
"""Amounts above 0."""


def site_needs(claim: Claim) -> Needs:
    return tuple(sorted((name, amount) for name, amount in claim.holds.items() if amount > 0))


def quota_needs(claim: Claim) -> Needs:
    of = claim.project, claim.region
    return tuple(((*of, name), n) for name, n in sorted(claim.counts.items()) if n > 0)


class FreeCapacity(dict[Resource, float]):
    """The free amounts of one site.

    An amount is negative where a capacity or a quota was lowered below what is held, and infinite
    where no quota limits the resource.
    """

    def __init__(self, capacity: Amounts, quotas: Quotas) -> None:
        super().__init__()
        self.capacity = capacity
        self._quotas = quotas

    def __missing__(self, resource: Resource) -> float:
        self[resource] = free = self.total(resource)
        return free

    def total(self, resource: Resource) -> float:
        if isinstance(resource, str):
            return self.capacity.get(resource, 0)
        limit = self._quotas.limit(*resource)
        return math.inf if limit is None else limit

    def fits(self, needs: Needs) -> bool:
        # A loop: all() over a generator takes three times as long, and this is called most.
        for resource, amount in needs:  # noqa: SIM110
            if self[resource] < amount:
                return False
        return True

    def take(self, needs: Needs) -> None:
        for resource, amount in needs:
            self[resource] -= amount
