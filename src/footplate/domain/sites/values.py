"""Values of sites: their capacity, and how much of it a job holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from footplate.domain.catalogue import AcceleratorKind, Catalogue, MachineType
from footplate.domain.formatting import joined
from footplate.domain.jobs import JobSpec, MachineSpec
from footplate.domain.machines import accelerators_of
from footplate.domain.resources import GPUS, MEMORY_MB, REPLICAS, VCPUS, Amounts, say_amount, total


class MachinePool(Protocol):
    """A group of identical machines."""

    @property
    def machine(self) -> MachineSpec: ...

    @property
    def replica_count(self) -> int: ...


class Machines(Protocol):
    """The machines of a job or of a persistent resource."""

    @property
    def pools(self) -> Sequence[MachinePool]: ...


REPLICA_MEMORY_BYTES = 1 << 30
"""What a trainer with a framework loaded needs at least, as a rule of thumb."""


def replicas_for(memory_bytes: int) -> int:
    """Returns how many replicas fit: one for each GiB of the machine's memory, and at least one."""
    return max(1, memory_bytes // REPLICA_MEMORY_BYTES)


class Mode(Enum):
    """The way in which a site treats the machines that jobs ask for."""

    EMULATE = "emulate"
    """They are checked, and not reserved; replicas are bounded by the site's memory."""
    ENFORCE = "enforce"
    """Their vCPUs, memory and accelerators are reserved."""


@dataclass(frozen=True)
class Gpu:
    """A GPU of a host; ``id`` is its name in CUDA_VISIBLE_DEVICES."""

    id: str
    accelerator: str | None
    """The type that it counts as, by its API name; None: its model is like none of them."""
    model: str = ""
    simulated: bool = False
    """It is only counted: programs find nothing there."""


@dataclass(frozen=True)
class EngineMachines:
    """The machines of the catalogue that an engine can provide.

    ``title`` is the engine's name (``Slurm``). ``machine_types`` is None if it provides all of
    them. ``limits`` is a sentence on what holds a replica to its machine's size there.
    """

    title: str
    machine_types: frozenset[str] | None = None
    accelerators: frozenset[str] = frozenset()
    limits: str = ""
    runs_containers: bool = False
    """Whether jobs that are container images run there."""


@dataclass(frozen=True)
class Site:
    """A machine, or a cluster, on which jobs of one or more regions run."""

    name: str
    mode: Mode
    replicas: int
    """How many replicas run at once, in emulate mode. On an engine, which queues by itself: how
    many are there at once, running or waiting; 0: any number."""
    vcpus: int
    memory_mb: int
    gpus: tuple[Gpu, ...] = ()
    hides_gpus: bool = False
    """Whether its machine has GPUs, besides, that no program is to see."""
    notes: tuple[str, ...] = ()
    """What its operator should know about it."""
    engine: EngineMachines | None = None
    """Of a cluster whose engine has the machines, and says by itself which are free."""

    @property
    def shows_gpus(self) -> bool:
        """Returns whether programs need a variable that names the GPUs that they may use."""
        return bool(self.gpus) or self.hides_gpus

    @property
    def capacity(self) -> Amounts:
        """Returns the amounts of the site that all jobs together can hold."""
        if self.mode is Mode.EMULATE:
            return {REPLICAS: self.replicas, GPUS: len(self.gpus)}
        accelerators = total({gpu.accelerator: 1} for gpu in self.gpus if gpu.accelerator)
        return {VCPUS: self.vcpus, MEMORY_MB: self.memory_mb, **accelerators}

    def held_by(self, spec: Machines, catalogue: Catalogue) -> Amounts:
        """Returns the amounts that a running job, or an existing resource, holds of the site.

        In emulate mode the amounts never exceed the site: a job that is larger than the machine
        runs alone, and lacks the GPUs that don't exist.
        """
        if self.mode is Mode.EMULATE:
            replicas = sum(pool.replica_count for pool in spec.pools)
            gpus = sum(_gpus(spec, catalogue))
            held = {REPLICAS: min(replicas, self.replicas), GPUS: min(gpus, len(self.gpus))}
            return {resource: amount for resource, amount in held.items() if amount}
        return counted(spec, catalogue)


def counted(spec: Machines, catalogue: Catalogue) -> Amounts:
    """Returns the totals of the machines: vCPUs, memory, accelerators by type."""
    return total(_machines(spec, catalogue))


def _machines(spec: Machines, catalogue: Catalogue) -> Iterator[Amounts]:
    for pool in spec.pools:
        kind = catalogue.machine_types.get(pool.machine.machine_type)
        one: Amounts = {}
        if kind is not None:
            one = {VCPUS: kind.vcpus, MEMORY_MB: memory_mb(kind)}
        name, count = accelerators_of(pool.machine, catalogue)
        if name is not None:
            one[name] = count
        yield {resource: amount * pool.replica_count for resource, amount in one.items()}


def unlimited_here(spec: JobSpec, catalogue: Catalogue, site: Site) -> str | None:
    """Returns why the job must not start: a machine type has left the catalogue since the submit.

    In enforce mode the service must know a machine's size, to reserve it and to limit its program.
    """
    if site.mode is Mode.EMULATE:
        return None
    types = {pool.machine.machine_type for pool in spec.pools}
    gone = sorted(types - catalogue.machine_types.keys())
    if not gone:
        return None
    return (
        f"the catalogue no longer has machine type {', '.join(gone)}, so the server doesn't "
        f"know how much of {site.name} to reserve. Put the type into the catalogue file "
        "again, or send the job with another one"
    )


def too_large(machines: Machines, site: Site, catalogue: Catalogue) -> str | None:
    """Returns why the site can never provide the machines; None: it can."""
    if site.mode is Mode.EMULATE:
        return None
    wanted, there = site.held_by(machines, catalogue), site.capacity
    short = [r for r in sorted(wanted) if wanted[r] > there.get(r, 0)]
    if not short:
        return None
    asked = joined([say_amount(resource, wanted[resource]) for resource in short])
    has = joined([say_amount(resource, there.get(resource, 0)) for resource in short])
    return (
        f"the request asks for {asked}, but {site.name} has {has}. Ask for "
        'less, or run the server with mode = "emulate", which reserves nothing'
    )


def memory_mb(kind: MachineType) -> int:
    return round(kind.memory_gb * 1024)


def _gpus(spec: Machines, catalogue: Catalogue) -> Iterator[int]:
    for pool in spec.pools:
        _, count = gpus_of(pool.machine, catalogue)
        yield count * pool.replica_count


def gpus_of(machine: MachineSpec, catalogue: Catalogue) -> tuple[str, int]:
    """Returns the type and the number of a machine's GPUs; 0: none."""
    return _accelerators(machine, catalogue, AcceleratorKind.GPU)


def tpus_of(machine: MachineSpec, catalogue: Catalogue) -> tuple[str, int]:
    """Returns the type and the number of a machine's TPUs; 0: none."""
    return _accelerators(machine, catalogue, AcceleratorKind.TPU)


def _accelerators(
    machine: MachineSpec, catalogue: Catalogue, kind: AcceleratorKind
) -> tuple[str, int]:
    name, count = accelerators_of(machine, catalogue)
    if name is None or count <= 0 or _kind_of(name, catalogue) is not kind:
        return "", 0
    return name, count


def _kind_of(name: str, catalogue: Catalogue) -> AcceleratorKind:
    """Returns an accelerator's kind, guessed by its name if it has left the catalogue."""
    known = catalogue.accelerators.get(name)
    if known is not None:
        return known.kind
    return AcceleratorKind.TPU if name.startswith("TPU") else AcceleratorKind.GPU
