"""The machine that each replica of a job asks its backend for."""

from __future__ import annotations

from footplate.domain.catalogue import Catalogue
from footplate.domain.jobs import JobSpec, MachineSpec
from footplate.domain.machines import accelerators_of
from footplate.domain.sites import memory_mb
from footplate.ports.backend import ReplicaMachine


def machines_of(spec: JobSpec, catalogue: Catalogue) -> dict[str, ReplicaMachine]:
    """Returns the machine of each replica, by the replica's name."""
    return {
        name: _machine(pool.machine, catalogue)
        for pool in spec.pools
        for name in pool.replica_names()
    }


def _machine(asked: MachineSpec, catalogue: Catalogue) -> ReplicaMachine:
    """Returns the machine; its size is 0 if its type has left the catalogue."""
    kind = catalogue.machine_types.get(asked.machine_type)
    accelerator, count = accelerators_of(asked, catalogue)
    return ReplicaMachine(
        machine_type=asked.machine_type,
        vcpus=0 if kind is None else kind.vcpus,
        memory_mb=0 if kind is None else memory_mb(kind),
        accelerator_type=accelerator or "",
        accelerator_count=count if accelerator else 0,
    )
