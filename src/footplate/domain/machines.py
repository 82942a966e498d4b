"""What machines a job may ask for, and in which zone it finds them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.errors import Violation
    from footplate.domain.jobs import MachineSpec


@dataclass(frozen=True)
class MachineRequest:
    """The machine of each replica of one pool, and where the request says so, for errors."""

    machine: MachineSpec
    type_field: str
    accelerator_type_field: str
    accelerator_count_field: str


def check_machines(
    requests: Sequence[MachineRequest], region: str, region_field: str, catalogue: Catalogue
) -> Iterator[Violation]:
    """Everything that the catalogue doesn't allow of a job's machines in a region."""
    raise NotImplementedError


def accelerators_of(machine: MachineSpec, catalogue: Catalogue) -> tuple[str | None, int]:
    """The accelerator that a machine has, asked for or included in its type, and how many."""
    kind = catalogue.machine_types.get(machine.machine_type)
    if machine.accelerator_type is None and kind is not None and kind.included is not None:
        return kind.included
    return machine.accelerator_type, machine.accelerator_count


def zones_for(
    machines: Sequence[MachineSpec], region: str, catalogue: Catalogue
) -> tuple[str, ...]:
    """The zones of the region that have every accelerator of these machines, in order."""
    wanted = {accelerators_of(machine, catalogue)[0] for machine in machines} - {None}
    known = catalogue.regions.get(region)
    zones = known.zones if known is not None else ()
    return tuple(zone.name for zone in zones if wanted <= zone.accelerators)
