"""What is free of everything that can run out, as numbers in a list: quick to compare."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.amounts import Amounts
    from footplate.domain.quotas import Quotas

Needs = tuple[tuple[int, int], ...]
"""How much of what: pairs of a place in `Room.free` and an amount above 0."""


class Room:
    """Each resource of each site, and of each project in each region, has a place in the lists.

    ``free`` is what ``held`` leaves of ``total``. It is below 0 where a capacity or a quota was
    lowered under what is held; what no quota limits is infinite.
    """

    def __init__(self, capacity: Mapping[str, Amounts], quotas: Quotas) -> None:
        self.free: list[float] = []
        self.total: list[float] = []
        self.held: list[int] = []
        self.names: list[str] = []
        """Of the resources."""
        self._capacity = capacity
        self._quotas = quotas
        self._of_sites: dict[str, dict[str, int]] = {}
        self._of_quotas: dict[tuple[str, str], dict[str, int]] = {}
        self._accounts: Counter[tuple[str, str]] = Counter()
        self._spare: list[int] = []
        """Places that nobody needs any more."""

    def site_needs(self, site: str, amounts: Amounts) -> Needs:
        places = self._of_sites.setdefault(site, {})
        for resource in amounts:
            if resource not in places:
                total = self._capacity.get(site, {}).get(resource, 0)
                places[resource] = self._add(resource, total)
        return _pairs(places, amounts)

    def open_account(self, project: str, region: str, amounts: Amounts) -> Needs:
        """What claims need that count so much; to be closed when there is none left."""
        self._accounts[project, region] += 1
        places = self._of_quotas.setdefault((project, region), {})
        for resource in amounts:
            if resource not in places:
                limit = self._limit(project, region, resource)
                places[resource] = self._add(resource, limit)
        return _pairs(places, amounts)

    def close_account(self, project: str, region: str) -> None:
        """With the last one go the places of the project in the region: anybody may ask about
        any project, and none of it must be kept for ever."""
        self._accounts[project, region] -= 1
        if not self._accounts[project, region]:
            del self._accounts[project, region]
            self._spare.extend(self._of_quotas.pop((project, region)).values())

    def limited(self, needs: Needs) -> Needs:
        """Those that can run out at all."""
        return tuple(need for need in needs if self.total[need[0]] < math.inf)

    def set_quotas(self, quotas: Quotas) -> None:
        self._quotas = quotas
        for (project, region), places in self._of_quotas.items():
            for resource, place in places.items():
                self.total[place] = self._limit(project, region, resource)
                self.free[place] = self.total[place] - self.held[place]

    def take(self, needs: Needs) -> None:
        for place, amount in needs:
            self.held[place] += amount
            self.free[place] -= amount

    def give_back(self, needs: Needs) -> None:
        for place, amount in needs:
            self.held[place] -= amount
            self.free[place] += amount

    def fits(self, needs: Needs) -> bool:
        free = self.free
        # A loop: all() over a generator takes three times as long, and this is asked most.
        for place, amount in needs:  # noqa: SIM110
            if free[place] < amount:
                return False
        return True

    def can_ever_fit(self, needs: Needs) -> bool:
        return all(self.total[place] >= amount for place, amount in needs)

    def held_by(self, project: str, region: str) -> Amounts:
        """What counts against the quota of the project there."""
        places = self._of_quotas.get((project, region), {})
        return {resource: self.held[place] for resource, place in sorted(places.items())}

    def _limit(self, project: str, region: str, resource: str) -> float:
        limit = self._quotas.limit(project, region, resource)
        return math.inf if limit is None else limit

    def _add(self, resource: str, total: float) -> int:
        if self._spare:
            place = self._spare.pop()
            self.names[place], self.total[place] = resource, total
            self.free[place], self.held[place] = total, 0
            return place
        self.names.append(resource)
        self.total.append(total)
        self.free.append(total)
        self.held.append(0)
        return len(self.free) - 1


def _pairs(places: Mapping[str, int], amounts: Amounts) -> Needs:
    return tuple(sorted((places[resource], n) for resource, n in amounts.items() if n > 0))
