"""Rules for the machines of pools."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from footplate.domain.catalogue import AcceleratorKind, Catalogue, Family, MachineType
from footplate.domain.errors import Violation
from footplate.domain.machines import MachineRequest, accelerators_of, check_machines
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1 import models
from footplate.wire.vertex_v1.enums import ReservationAffinityType
from footplate.wire.vertex_v1.machines import machine_of

_TOPOLOGY = re.compile(r"[1-9][0-9]{0,3}(x[1-9][0-9]{0,3}){1,2}")
_PARTITION = re.compile(r"[1-9][0-9]?g\.[1-9][0-9]{0,3}gb")
_TPU_OF_ML = {"cloud_tpu": "cloud-tpu"}


def check_pool_machines(
    machines: Mapping[str, models.MachineSpec | None],
    region: str,
    region_field: str,
    catalogue: Catalogue,
    clouded: Callable[[str], bool],
) -> Iterator[Violation]:
    """Yields faults of the machines of pools in use.

    ``machines`` are by the paths of their pools in the request.
    """
    requests = []
    known = _known_here(catalogue)
    for at, given in machines.items():
        field, machine, spec = f"{at}.machineSpec", machine_of(given), given or models.MachineSpec()
        kind = catalogue.machine_types.get(machine.machine_type)
        if not machine.machine_type:
            yield Violation(
                f"{field}.machineType", "required: a machine type, such as n1-standard-4"
            )
        elif kind is not None and (meant := _name_here(kind)):
            rule = f"a machine type of AI Platform Training (ml v1); use {meant} instead"
            yield Violation(f"{field}.machineType", f"{describe(kind.name)} given, {rule}")
            machine = replace(machine, machine_type="")
        requests.append(MachineRequest(machine, *(f"{field}.{name}" for name in _FIELDS)))
        yield from _check_extras(spec, kind, field)
        if not (clouded(f"{field}.machineType") or clouded(f"{field}.acceleratorType")):
            yield from _check_partition(spec, field, catalogue)
    yield from check_machines(requests, region, region_field, known)


_FIELDS = ("machineType", "acceleratorType", "acceleratorCount")


def _known_here(catalogue: Catalogue) -> Catalogue:
    """Returns the catalogue without the machine types that only ml v1 has."""
    kinds = catalogue.machine_types
    known = {name: kind for name, kind in kinds.items() if _name_here(kind) is None}
    return replace(catalogue, machine_types=known)


def _name_here(kind: MachineType) -> str | None:
    """Returns what to write instead of a type that only ml v1 knows; None: it exists here."""
    if kind.family is not Family.LEGACY:
        return _TPU_OF_ML.get(kind.name)
    like = kind.like or "a Compute Engine machine type"
    if kind.included is None:
        return like
    accelerator, count = kind.included
    return f"{like} with acceleratorType {accelerator} and acceleratorCount {count}"


def _check_extras(
    machine: models.MachineSpec, kind: MachineType | None, at: str
) -> Iterator[Violation]:
    topology, field = machine.tpu_topology, f"{at}.tpuTopology"
    if topology and not _TOPOLOGY.fullmatch(topology):
        allowed = "two or three numbers with x between, such as 2x2x1"
        yield Violation(field, f"{describe(topology)} given; allowed: {allowed}")
    elif topology and kind is not None and kind.family is not Family.TPU:
        allowed = "only with a TPU machine type, such as ct5lp-hightpu-4t"
        yield Violation(field, f"{describe(topology)} given with {kind.name}; allowed: {allowed}")
    if machine.reservation_affinity is not None:
        yield from _check_reservation(machine.reservation_affinity, f"{at}.reservationAffinity")


def _check_reservation(affinity: models.ReservationAffinity, at: str) -> Iterator[Violation]:
    kind = affinity.reservation_affinity_type
    if not kind:
        names = ", ".join(member.name for member in ReservationAffinityType if member)
        yield Violation(f"{at}.reservationAffinityType", f"required: {names}")
    if kind is not ReservationAffinityType.SPECIFIC_RESERVATION:
        return
    if not affinity.key:
        wanted = "a key such as compute.googleapis.com/reservation-name"
        yield Violation(f"{at}.key", f"required with SPECIFIC_RESERVATION: {wanted}")
    if not affinity.values:
        wanted = "the names of reservations"
        yield Violation(f"{at}.values", f"required with SPECIFIC_RESERVATION: {wanted}")
    for index, value in enumerate(affinity.values or ()):
        if not value:
            yield Violation(f"{at}.values[{index}]", '"" given; allowed: the name of a reservation')


def _check_partition(
    machine: models.MachineSpec, at: str, catalogue: Catalogue
) -> Iterator[Violation]:
    size = machine.gpu_partition_size
    if not size:
        return
    field = f"{at}.gpuPartitionSize"
    if not _PARTITION.fullmatch(size):
        yield Violation(field, f"{describe(size)} given; allowed: a size such as 1g.10gb")
        return
    name, _ = accelerators_of(machine_of(machine), catalogue)
    accelerator = catalogue.accelerators.get(name or "")
    if accelerator is None or accelerator.kind is not AcceleratorKind.GPU:
        yield Violation(
            field, (f"{describe(size)} given for a machine without GPUs; allowed: only with GPUs")
        )
