"""The claims of a persistent resource: on the machines of its region, and on its own.

A resource is a site of its own, on which jobs wait and run as on any other. It holds its machines
of its region's site like a job that never ends. What it is still to be given waits like a job, and
meanwhile nobody can use it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from footplate.domain.admission.claims import (
    Claim,
    accelerators_asked,
    counted_machines,
    held_on_resource,
)
from footplate.domain.catalogue import Catalogue
from footplate.domain.names import JobUid
from footplate.domain.persistent_resources import PersistentResource, ResourceState
from footplate.domain.resources import Amounts
from footplate.domain.sites import Site

_READY = (ResourceState.RUNNING, ResourceState.UPDATING)
_BLOCKERS = {
    ResourceState.PROVISIONING: "its provisioning",
    ResourceState.UPDATING: "its update",
    ResourceState.REBOOTING: "its reboot",
    ResourceState.STOPPING: "its deletion",
}
"""What explanations call who holds machines that nobody can use."""


@dataclass(frozen=True)
class ResourceClaims:
    """The claims of a persistent resource.

    ``held`` and ``waiting`` are claims on the region's site, ``blocked`` is a claim on the resource
    itself. None: it holds nothing, waits for nothing, or all its machines can be used.
    """

    site: str
    """The name of the resource."""
    capacity: Amounts
    held: Claim | None
    waiting: Claim | None
    blocked: Claim | None


def claims_of(resource: PersistentResource, site: Site, catalogue: Catalogue) -> ResourceClaims:
    """Returns the claims of a persistent resource; ``site`` is the site of its region."""
    has = resource.on_provisioned
    holds, counts = site.held_by(has, catalogue), counted_machines(has, catalogue)
    capacity = held_on_resource(resource, site, catalogue)
    usable = held_on_resource(has, site, catalogue) if resource.state in _READY else {}
    held = waiting = blocked = None
    if holds or counts:
        held = _claim(resource, site, catalogue, "held", holds, counts)
    if resource.state in (ResourceState.PROVISIONING, ResourceState.UPDATING):
        more = _without(site.held_by(resource, catalogue), holds)
        counted = _without(counted_machines(resource, catalogue), counts)
        waiting = _claim(resource, site, catalogue, "waiting", more, counted)
    if kept := _without(capacity, usable):
        blocked = _claim(resource, site, catalogue, "blocked", kept, {})
    return ResourceClaims(str(resource.name), capacity, held, waiting, blocked)


def _claim(
    resource: PersistentResource,
    site: Site,
    catalogue: Catalogue,
    part: str,
    holds: Amounts,
    counts: Amounts,
) -> Claim:
    """Makes a claim without a time limit: nobody knows when the resource is deleted."""
    own = part == "blocked"
    name = resource.name
    return Claim(
        uid=JobUid(f"{name}:{part}"),
        name=_BLOCKERS.get(resource.state, "") if own else f"persistent resource {resource.id}",
        project=name.project,
        region=name.location,
        site=str(name) if own else site.name,
        accelerator=accelerators_asked(resource, catalogue),
        priority=0,
        arrived=resource.create_time.timestamp(),
        longest_s=math.inf,
        holds=holds,
        counts=counts,
        what="resource",
    )


def _without(amounts: Amounts, less: Amounts) -> Amounts:
    left = {name: amount - less.get(name, 0) for name, amount in amounts.items()}
    return {name: amount for name, amount in left.items() if amount > 0}
