"""Keeps the scheduler's view of persistent resources: what they hold, and what jobs can use."""

from __future__ import annotations

from collections.abc import Iterable

from footplate.control.regions import Regions
from footplate.domain.admission import Explanation, Scheduler
from footplate.domain.admission.resource_claims import ResourceClaims, claims_of
from footplate.domain.catalogue import Catalogue
from footplate.domain.names import JobUid, PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource
from footplate.domain.resources import Amounts


class ReservedMachines:
    """The machines of persistent resources; all calls are made under the lock of the queue."""

    def __init__(self, scheduler: Scheduler, regions: Regions, catalogue: Catalogue) -> None:
        self._scheduler = scheduler
        self._regions = regions
        self._catalogue = catalogue
        self._claims: dict[PersistentResourceName, ResourceClaims] = {}

    def see(self, resources: Iterable[PersistentResource]) -> None:
        """Updates the claims; ``resources`` are all that exist."""
        found = {each.name: each for each in resources}
        for name in self._claims.keys() - found.keys():
            self._forget(self._claims.pop(name))
        for name, resource in found.items():
            site = self._regions.site(name.location)
            claims = claims_of(resource, site, self._catalogue)
            before = self._claims.get(name)
            self._claims[name] = claims
            if before is not None:
                self._forget(before)
            self._scheduler.set_capacity(claims.site, claims.capacity)
            since = resource.create_time.timestamp()
            for claim in filter(None, (claims.held, claims.blocked)):
                self._scheduler.hold(claim, since)
            if claims.waiting is not None:
                self._scheduler.wait(claims.waiting)

    def uids(self) -> set[JobUid]:
        """Returns the uids of all claims."""
        return {
            claim.uid
            for each in self._claims.values()
            for claim in (each.held, each.waiting, each.blocked)
            if claim is not None
        }

    def waiting(self) -> dict[JobUid, PersistentResourceName]:
        """Returns the resources that wait for machines, by the uids of their claims."""
        return {
            each.waiting.uid: name
            for name, each in self._claims.items()
            if each.waiting is not None
        }

    def explain(self, name: PersistentResourceName, now: float) -> Explanation | None:
        """Explains why the resource waits for machines; None if it doesn't."""
        claims = self._claims.get(name)
        if claims is None or claims.waiting is None:
            return None
        return self._scheduler.explain(claims.waiting.uid, now)

    def used(self, name: PersistentResourceName) -> Amounts:
        """Returns the amounts of the resource that jobs hold."""
        claims, held = self._claims.get(name), self._scheduler.held_of(str(name))
        blocked = claims.blocked.holds if claims is not None and claims.blocked else {}
        left = {kind: amount - blocked.get(kind, 0) for kind, amount in held.items()}
        return {kind: amount for kind, amount in left.items() if amount > 0}

    def _forget(self, claims: ResourceClaims) -> None:
        for claim in filter(None, (claims.held, claims.waiting, claims.blocked)):
            self._scheduler.leave(claim.uid)
        self._scheduler.set_capacity(claims.site, {})
