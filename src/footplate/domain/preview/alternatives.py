"""Valid variations of a job that may start sooner. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice

from footplate.domain.catalogue import Catalogue, MachineType
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.jobs import JobSpec, MachineSpec, WorkerPool
from footplate.domain.machines import MachineRequest, accelerators_of, check_machines

Variations = Iterator[tuple[str, JobSpec]]

MOST_OF_A_KIND = 3
"""Of each kind of change, so that none of them pushes out the others."""
MOST = 12
"""In all."""


def variations(spec: JobSpec, catalogue: Catalogue) -> Variations:
    """Yields other specs of the job, each with a description, the most similar first.

    The catalogue allows each of them. Each differs from the job in one respect, and asks for less,
    or for something else. A job on a persistent resource has none.
    """
    if spec.persistent_resource is not None:
        return iter(())
    kinds = (
        _fewer_accelerators,
        _fewer_workers,
        _other_accelerators,
        _smaller_machines,
        _other_regions,
    )
    some = (islice(_valid(kind(spec, catalogue), catalogue), MOST_OF_A_KIND) for kind in kinds)
    return islice(chain.from_iterable(some), MOST)


def _valid(candidates: Variations, catalogue: Catalogue) -> Variations:
    for words, spec in candidates:
        requests = [MachineRequest(pool.machine, "", "", "") for pool in spec.pools]
        if not any(check_machines(requests, spec.region, "", catalogue)):
            yield words, spec


@dataclass(frozen=True)
class _Group:
    """Pools whose replicas have the same accelerators.

    ``only`` names the pools if others have different accelerators; else it is empty.
    """

    accelerator: str
    count: int
    pools: tuple[WorkerPool, ...]
    only: str

    def kinds(self, catalogue: Catalogue) -> list[MachineType]:
        found = (catalogue.machine_types.get(pool.machine.machine_type) for pool in self.pools)
        return [kind for kind in found if kind is not None]

    def counts(self, accelerator: str, catalogue: Catalogue) -> tuple[int, ...]:
        """Returns the counts of an accelerator that all machine types allow, largest first."""
        counts = [set(kind.accelerators.get(accelerator, ())) for kind in self.kinds(catalogue)]
        return tuple(sorted(set.intersection(*counts), reverse=True)) if counts else ()

    def with_accelerators(self, spec: JobSpec, accelerator: str, count: int) -> JobSpec:
        def change(machine: MachineSpec) -> MachineSpec:
            return replace(machine, accelerator_type=accelerator, accelerator_count=count)

        return _with_machines(spec, self.pools, change)


def _groups(spec: JobSpec) -> list[_Group]:
    """Groups pools by requested accelerators, as included accelerators can't be changed."""
    found: dict[tuple[str, int], list[WorkerPool]] = {}
    for pool in spec.pools:
        if pool.machine.accelerator_type is not None and pool.replica_count:
            key = (pool.machine.accelerator_type, pool.machine.accelerator_count)
            found.setdefault(key, []).append(pool)
    return [
        _Group(accelerator, count, tuple(pools), _only(pools) if len(found) > 1 else "")
        for (accelerator, count), pools in found.items()
    ]


def _only(pools: Iterable[WorkerPool]) -> str:
    return f" for {' and '.join(pool.cluster_role for pool in pools)}"


def _fewer_accelerators(spec: JobSpec, catalogue: Catalogue) -> Variations:
    for group in _groups(spec):
        for count in group.counts(group.accelerator, catalogue):
            if count < group.count:
                words = f"with {count} {group.accelerator} instead of {group.count}{group.only}"
                yield words, group.with_accelerators(spec, group.accelerator, count)
        yield from _fewer_with_machine(spec, group, catalogue)


def _fewer_with_machine(spec: JobSpec, group: _Group, catalogue: Catalogue) -> Variations:
    """Yields smaller machine types, if each type has only one number of accelerators."""
    names = {pool.machine.machine_type for pool in group.pools}
    if len(names) > 1 or len(group.counts(group.accelerator, catalogue)) > 1:
        return
    for smaller in _smaller(min(names), catalogue):
        counts = smaller.accelerators.get(group.accelerator, ())
        for count in (count for count in counts[-1:] if count < group.count):
            words = f"with {smaller.name} instead of {min(names)}{group.only}"
            machine = MachineSpec(smaller.name, group.accelerator, count)
            yield words, _with_machine(spec, group.pools, machine)


def _fewer_workers(spec: JobSpec, _catalogue: Catalogue) -> Variations:
    """Yields the job with half of its workers, with one, and with none if no reducers need them."""
    pool = next((pool for pool in spec.pools if role_of(pool) is ClusterRole.WORKER), None)
    if pool is None:
        return
    have = pool.replica_count
    needed = {ClusterRole.PARAMETER_SERVER, ClusterRole.REDUCER} & {
        role_of(other) for other in spec.pools
    }
    for count in dict.fromkeys((have // 2, 1, 0)):
        if count < have and (count or not needed):
            few = f"{count} worker{'' if count == 1 else 's'} instead of {have}"
            words = f"with {few}" if count else "without workers"
            fewer = (replace(pool, replica_count=count),) if count else ()
            pools = tuple(p for old in spec.pools for p in (fewer if old is pool else (old,)))
            yield words, replace(spec, pools=pools)


def _other_accelerators(spec: JobSpec, catalogue: Catalogue) -> Variations:
    """Yields other accelerators of the same kind, in the same number or the nearest possible."""
    region = catalogue.regions.get(spec.region)
    there = region.accelerators if region is not None else frozenset[str]()
    for group in _groups(spec):
        own = catalogue.accelerators.get(group.accelerator)
        for name, other in catalogue.accelerators.items():
            counts = group.counts(name, catalogue)
            if own is None or other.kind is not own.kind or other is own or not counts:
                continue
            if name in there:
                count = min(counts, key=lambda count: abs(count - group.count))
                given = f"{group.count} {group.accelerator}"
                words = f"with {count} {name} instead of {given}{group.only}"
                yield words, group.with_accelerators(spec, name, count)


def _smaller_machines(spec: JobSpec, catalogue: Catalogue) -> Variations:
    """Yields the next smaller machine types of the same family, for pools without accelerators."""
    plain = [p for p in spec.pools if accelerators_of(p.machine, catalogue)[0] is None]
    for name in dict.fromkeys(pool.machine.machine_type for pool in plain):
        pools = [pool for pool in plain if pool.machine.machine_type == name]
        only = "" if len(pools) == len(spec.pools) else _only(pools)
        for smaller in _smaller(name, catalogue):
            words = f"with {smaller.name} instead of {name}{only}"
            yield words, _with_machine(spec, pools, MachineSpec(smaller.name))


def _smaller(name: str, catalogue: Catalogue) -> list[MachineType]:
    kind = catalogue.machine_types.get(name)
    line = name.rpartition("-")[0]
    if kind is None or not line:
        return []
    found = [
        other
        for other in catalogue.machine_types.values()
        if other.name.rpartition("-")[0] == line
        and other.family is kind.family
        and other.included is None
        and other.vcpus < kind.vcpus
    ]
    return sorted(found, key=lambda other: (-other.vcpus, other.name))


def _other_regions(spec: JobSpec, catalogue: Catalogue) -> Variations:
    """Yields other regions, beginning with those on the same continent."""
    continent = spec.region.partition("-")[0]
    others = (name for name in catalogue.regions if name != spec.region)
    for name in sorted(others, key=lambda name: name.partition("-")[0] != continent):
        yield f"in {name}", replace(spec, region=name)


def _with_machines(
    spec: JobSpec, pools: Iterable[WorkerPool], change: Callable[[MachineSpec], MachineSpec]
) -> JobSpec:
    chosen = {id(pool) for pool in pools}
    made = (
        replace(pool, machine=change(pool.machine)) if id(pool) in chosen else pool
        for pool in spec.pools
    )
    return replace(spec, pools=tuple(made))


def _with_machine(spec: JobSpec, pools: Iterable[WorkerPool], machine: MachineSpec) -> JobSpec:
    return _with_machines(spec, pools, lambda _: machine)
