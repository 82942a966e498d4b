"""The rules for persistent resources.

Source: the service's API reference for PersistentResource and CreatePersistentResourceRequest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import Violation
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import ACCOUNT, Form, check_labels, resource
from footplate.wire.vertex_v1.resource_models import PersistentResource, ResourcePool
from footplate.wire.vertex_v1.rules.jobs import MAX_DISPLAY_NAME
from footplate.wire.vertex_v1.rules.machines import check_pool_machines
from footplate.wire.vertex_v1.rules.references import check_encryption

_ID = Form(
    "1 to 63 lowercase letters, digits and dashes; the first is a letter, the last no dash",
    re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
)
_NETWORK = resource("projects/PROJECT/global/networks/NETWORK")
MAX_POOLS = 10
MAX_REPLICAS = 1000


def check_persistent_resource(
    given: PersistentResource,
    region: str,
    catalogue: Catalogue,
    clouded: Callable[[str], bool],
) -> Iterator[Violation]:
    """Yields faults of a persistent resource.

    ``clouded`` returns whether the schema has refused the value of a field, which then is missing.
    """
    if given.display_name and len(given.display_name) > MAX_DISPLAY_NAME:
        said = f"{len(given.display_name)} characters given; allowed: at most {MAX_DISPLAY_NAME}"
        yield Violation("displayName", said)
    yield from check_labels(given.labels or {})
    yield from check_encryption(given.encryption_spec)
    yield from _NETWORK.check(given.network, "network")
    yield from _check_runtime(given)
    yield from check_pools(given.resource_pools or [])
    machines = {
        f"resourcePools[{index}]": pool.machine_spec
        for index, pool in enumerate((given.resource_pools or [])[:MAX_POOLS])
    }
    yield from check_pool_machines(machines, region, "parent", catalogue, clouded)


def check_resource_id(given: str | None) -> Iterator[Violation]:
    if not given:
        yield Violation("persistentResourceId", f"required: {_ID.shown}")
    yield from _ID.check(given, "persistentResourceId")


def check_pools(pools: list[ResourcePool]) -> Iterator[Violation]:
    """Yields faults of pools, except of their machines."""
    if not 1 <= len(pools) <= MAX_POOLS:
        yield Violation("resourcePools", f"{len(pools)} given; allowed: 1 to {MAX_POOLS}")
    ids = Counter(pool.id for pool in pools if pool.id)
    for index, pool in enumerate(pools[:MAX_POOLS]):
        at = f"resourcePools[{index}]"
        yield from _ID.check(pool.id, f"{at}.id")
        if pool.id and ids[pool.id] > 1:
            yield Violation(
                f"{at}.id",
                (
                    f"{describe(pool.id)} given, the id of another pool; "
                    "allowed: a different id for each pool"
                ),
            )
        yield from _check_size(pool, at)


def _check_size(pool: ResourcePool, at: str) -> Iterator[Violation]:
    scaling = pool.autoscaling_spec
    if pool.replica_count is not None or scaling is None:
        yield from _check_count(pool.replica_count, f"{at}.replicaCount")
    if scaling is None:
        return
    least, most = scaling.min_replica_count, scaling.max_replica_count
    at = f"{at}.autoscalingSpec"
    yield from _check_count(least, f"{at}.minReplicaCount")
    yield from _check_count(most, f"{at}.maxReplicaCount")
    if least and most and least > most:
        yield Violation(
            f"{at}.maxReplicaCount", f"{most} given; allowed: {least} (minReplicaCount) or more"
        )


def _check_count(given: int | None, field: str) -> Iterator[Violation]:
    if given is None:
        yield Violation(field, f"required: 1 to {MAX_REPLICAS}")
    elif not 1 <= given <= MAX_REPLICAS:
        yield Violation(field, f"{given} given; allowed: 1 to {MAX_REPLICAS}")


def _check_runtime(given: PersistentResource) -> Iterator[Violation]:
    spec = given.resource_runtime_spec
    if spec is None:
        return
    if spec.ray_spec is not None:
        yield Violation(
            "resourceRuntimeSpec.raySpec",
            (
                "given, but Footplate has no Ray clusters: leave this field out, and start Ray "
                "in a custom job"
            ),
        )
    account = spec.service_account_spec
    if account is not None:
        field = "resourceRuntimeSpec.serviceAccountSpec.serviceAccount"
        yield from ACCOUNT.check(account.service_account, field)
