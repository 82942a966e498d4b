"""Persistent resources as aiplatform v1 asks for them and answers them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import (
    Change,
    PersistentResource,
    ResourcePool,
    machine_label,
)
from footplate.domain.submission import Location
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, describe, format_object
from footplate.wire.timestamps import format_time
from footplate.wire.vertex_v1 import resource_models
from footplate.wire.vertex_v1.machines import machine_of
from footplate.wire.vertex_v1.rules.persistent_resources import (
    check_persistent_resource,
    check_pools,
    check_resource_id,
)

_APART = ("displayName", "labels")
"""Fields that are kept apart from the rest of the request."""
_PATCHED = {
    "display_name": "displayName",
    "labels": "labels",
    "resource_pools": "resourcePools",
}


def read_resource(
    body: JsonObject,
    resource_id: str | None,
    location: Location,
    catalogue: Catalogue,
    uid: str,
    now: datetime,
) -> PersistentResource:
    """Reads a request of ``persistentResources.create``.

    Raises InvalidArgument with all faults.
    """
    understood = resource_models.PersistentResource.understand(body)
    given = understood.message
    found = check_persistent_resource(given, location.location, catalogue, understood.clouds)
    refuse((*check_resource_id(resource_id), *understood.with_rules(found)))
    rest = {key: value for key, value in given.encode().items() if key not in _APART}
    return PersistentResource(
        name=PersistentResourceName(location.project, location.location, resource_id or ""),
        uid=uid,
        display_name=given.display_name or "",
        request=format_object(rest),
        create_time=now,
        update_time=now,
        pools=_pools(given),
        labels=tuple((given.labels or {}).items()),
    )


def read_patch(body: JsonObject, mask: str | None) -> Callable[[PersistentResource], Change]:
    """Returns a function that makes the change for a resource.

    ``mask`` has the fields to set, separated by commas.

    Raises:
        InvalidArgument: the mask is empty, or names fields that a patch can't set; or a value is
            invalid.
    """
    understood = resource_models.PersistentResource.understand(body)
    refuse(understood.violations)
    fields, given = _masked(mask), understood.message
    in_pools = "resourcePools" in fields
    if in_pools:
        refuse(understood.with_rules(check_pools(given.resource_pools or [])))

    def change(resource: PersistentResource) -> Change:
        pools = {"resourcePools": given.encode().get("resourcePools", [])}
        return Change(
            display_name=(given.display_name or "") if "displayName" in fields else None,
            labels=tuple((given.labels or {}).items()) if "labels" in fields else None,
            pools=_pools(given) if in_pools else None,
            request=format_object(json.loads(resource.request) | pools) if in_pools else None,
        )

    return change


def _masked(mask: str | None) -> set[str]:
    allowed = ", ".join(_PATCHED.values())
    fields = set()
    for text in filter(None, (each.strip() for each in (mask or "").split(","))):
        top = text.split(".")[0]
        name = _PATCHED.get(top, top)
        if name not in _PATCHED.values():
            raise _wrong(f"{describe(text)} given; allowed: {allowed}")
        fields.add(name)
    if not fields:
        raise _wrong(f"required: some of {allowed}")
    return fields


def _wrong(said: str) -> InvalidArgument:
    return InvalidArgument.of((Violation("updateMask", said),))


def _pools(given: resource_models.PersistentResource) -> tuple[ResourcePool, ...]:
    return tuple(
        ResourcePool(
            pool.id or f"resource-pool-{index}",
            machine_of(pool.machine_spec),
            pool.machines,
        )
        for index, pool in enumerate(given.resource_pools or ())
    )


def resource_json(
    resource: PersistentResource, used: Mapping[str, int], catalogue: Catalogue
) -> JsonObject:
    """Returns a resource; ``used`` is how many of its machines jobs use, by kind."""
    answer: JsonObject = {"name": str(resource.name)}
    if resource.display_name:
        answer["displayName"] = resource.display_name
    answer |= json.loads(resource.request)
    answer["resourcePools"] = [*_pools_json(resource, answer, used, catalogue)]
    if resource.labels:
        answer["labels"] = dict(resource.labels)
    answer["state"] = resource.state.value
    answer["createTime"] = format_time(resource.create_time)
    if resource.start_time is not None:
        answer["startTime"] = format_time(resource.start_time)
    answer["updateTime"] = format_time(resource.update_time)
    return answer


def _pools_json(
    resource: PersistentResource,
    request: JsonObject,
    used: Mapping[str, int],
    catalogue: Catalogue,
) -> Iterator[JsonObject]:
    left = dict(used)
    given = request.get("resourcePools")
    for pool, sent in zip(resource.pools, given if isinstance(given, list) else (), strict=True):
        label = machine_label(pool.machine, catalogue)
        taken = min(left.get(label, 0), pool.replica_count)
        left[label] = left.get(label, 0) - taken
        own: JsonObject = {"id": pool.id, "usedReplicaCount": str(taken)}
        yield (sent if isinstance(sent, dict) else {}) | own
