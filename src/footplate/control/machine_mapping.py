"""Checks that the engine of a job's region has a name for the machines that the job asks for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.formatting import listed
from footplate.domain.machines import accelerators_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import WorkerPool
    from footplate.domain.sites import EngineMachines, Site
    from footplate.domain.submission import Submission

_POOLS = "workerPoolSpecs["
_ROLES = {
    "master": "master",
    "chief": "master",
    "worker": "worker",
    "ps": "parameterServer",
    "evaluator": "evaluator",
}
"""The prefix of a pool's fields in ml v1, by the pool's role."""


def mapping_violations(
    submission: Submission, site: Site, catalogue: Catalogue
) -> Iterator[Violation]:
    """Yields the machines that the job asks for and the engine has no name for.

    It yields nothing if the region isn't bound to an engine.
    """
    if site.engine is None or not submission.understood:
        return
    told: set[tuple[str, str]] = set()
    for pool in submission.spec.pools:
        for what, text in _unmapped(pool, submission.spec.region, site.engine, catalogue):
            field = _field(submission, pool, what)
            if (field, text) not in told:
                told.add((field, text))
                yield Violation(field, text)


def _unmapped(
    pool: WorkerPool, region: str, engine: EngineMachines, catalogue: Catalogue
) -> Iterator[tuple[str, str]]:
    machine = pool.machine.machine_type
    types = engine.machine_types
    known = machine in catalogue.machine_types
    if known and types is not None and machine not in types:
        yield "machineType", _say(machine, region, engine.title, types, "machines")
    accelerator, count = accelerators_of(pool.machine, catalogue)
    mapped = engine.accelerators
    if accelerator in catalogue.accelerators and count and accelerator not in mapped:
        text = _say(str(accelerator), region, engine.title, mapped, "accelerators")
        yield "acceleratorType", text


def _say(given: str, region: str, title: str, allowed: frozenset[str], table: str) -> str:
    return (
        f"{given!r} given, which region {region} on {title} doesn't offer; allowed: "
        f"{listed(sorted(allowed)) or 'none'}, "
        f"or have the operator add it to the region's {table}"
    )


def _field(submission: Submission, pool: WorkerPool, what: str) -> str:
    """Returns the field of the request that asks for the machine."""
    before, in_pools, index = pool.field.partition(_POOLS)
    if in_pools:
        return f"{before}{_POOLS}{index.partition(']')[0]}].machineSpec.{what}"
    tier = json.loads(submission.request).get("trainingInput", {}).get("scaleTier", "CUSTOM")
    if tier != "CUSTOM":
        return f"{pool.field}.scaleTier"
    role = _ROLES.get(pool.cluster_role, "worker")
    if what == "machineType":
        return f"{pool.field}.{role}Type"
    return f"{pool.field}.{role}Config.acceleratorConfig.type"
