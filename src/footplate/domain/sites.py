"""What a region is bound to: how much of it there is, and how much of it a job holds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from footplate.domain.amounts import GPUS, MEMORY_MB, REPLICAS, VCPUS, Amounts, total
from footplate.domain.machines import accelerators_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import JobSpec


class Mode(Enum):
    """How a site takes the machines that jobs ask for."""

    EMULATE = "emulate"
    """They are checked, and not reserved; replicas are bounded by the site's memory."""
    ENFORCE = "enforce"
    """Their vCPUs, memory and accelerators are reserved."""


@dataclass(frozen=True)
class Gpu:
    """One GPU of a host. ``id`` is what CUDA_VISIBLE_DEVICES calls it."""

    id: str
    accelerator: str
    """The type that it counts as, by its API name."""
    model: str = ""


@dataclass(frozen=True)
class Site:
    """One machine, or one cluster, that jobs of one or more regions run on."""

    name: str
    mode: Mode
    replicas: int
    """How many replicas run at once, in emulate mode."""
    vcpus: int
    memory_mb: int
    gpus: tuple[Gpu, ...] = ()

    @property
    def capacity(self) -> Amounts:
        """What jobs can hold of it together."""
        if self.mode is Mode.EMULATE:
            return {REPLICAS: self.replicas, GPUS: len(self.gpus)}
        accelerators = total({gpu.accelerator: 1} for gpu in self.gpus)
        return {VCPUS: self.vcpus, MEMORY_MB: self.memory_mb, **accelerators}

    def held_by(self, spec: JobSpec, catalogue: Catalogue) -> Amounts:
        """What the job holds of the site while it runs.

        In emulate mode never more than there is: a job larger than the machine runs when it is
        alone, and GPUs that don't exist are done without.
        """
        if self.mode is Mode.EMULATE:
            replicas = sum(pool.replica_count for pool in spec.pools)
            gpus = sum(_gpus(spec, catalogue))
            held = {REPLICAS: min(replicas, self.replicas), GPUS: min(gpus, len(self.gpus))}
            return {resource: amount for resource, amount in held.items() if amount}
        return counted(spec, catalogue)


def counted(spec: JobSpec, catalogue: Catalogue) -> Amounts:
    """What the machines of the job come to: vCPUs, memory, accelerators by type."""
    return total(_machines(spec, catalogue))


def _machines(spec: JobSpec, catalogue: Catalogue) -> Iterator[Amounts]:
    for pool in spec.pools:
        kind = catalogue.machine_types.get(pool.machine.machine_type)
        one: Amounts = {}
        if kind is not None:
            one = {VCPUS: kind.vcpus, MEMORY_MB: round(kind.memory_gb * 1024)}
        name, count = accelerators_of(pool.machine, catalogue)
        if name is not None:
            one[name] = count
        yield {resource: amount * pool.replica_count for resource, amount in one.items()}


def _gpus(spec: JobSpec, catalogue: Catalogue) -> Iterator[int]:
    for pool in spec.pools:
        name, count = accelerators_of(pool.machine, catalogue)
        if name is not None and name.startswith("NVIDIA_"):
            yield count * pool.replica_count
