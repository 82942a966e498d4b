"""Finds zones that have all machines of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.formatting import joined, listed, nearest, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.catalogue import Catalogue, Region
    from footplate.domain.jobs import MachineSpec
    from footplate.domain.machines import MachineRequest


def check_place(
    requests: Sequence[MachineRequest], region: str, region_field: str, catalogue: Catalogue
) -> Iterator[Violation]:
    """The region is known, it has every accelerator, and one of its zones has all of them."""
    place = catalogue.regions.get(region)
    if place is None:
        yield Violation(region_field, unknown_region(region, catalogue))
        return
    wanted: dict[str, None] = {}
    for request in requests:
        name, _ = accelerators_of(request.machine, catalogue)
        if name is None or name not in catalogue.accelerators:
            continue
        if name in place.accelerators:
            wanted[name] = None
        else:
            asked = request.machine.accelerator_type is not None
            field = request.accelerator_type_field if asked else request.type_field
            yield Violation(field, _absent(request, name, place, catalogue))
    if wanted and not _zones_with(wanted, place):
        yield Violation(region_field, _scattered(tuple(wanted), place, catalogue))


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


def _zones_with(wanted: dict[str, None], region: Region) -> bool:
    return any(wanted.keys() <= zone.accelerators for zone in region.zones)


def unknown_region(region: str, catalogue: Catalogue) -> str:
    """What is wrong with a region that the catalogue doesn't have."""
    known = nearest(region, catalogue.regions, "regions")
    if not region:
        return f"required: the region of the job; {known}"
    return f"{quoted(region)} given, which is no region of the catalogue; {known}"


def _absent(request: MachineRequest, name: str, region: Region, catalogue: Catalogue) -> str:
    machine = request.machine
    bringer = request.brought_by or ("" if machine.accelerator_type else machine.machine_type)
    asked = f"{bringer} brings {name}" if bringer else f"{name} given"
    having = [place.name for place in catalogue.regions.values() if name in place.accelerators]
    where = f"regions that have it: {listed(having)}" if having else "no region has it"
    return f"{asked}, which {region.name} doesn't have; {where}"


def _scattered(wanted: tuple[str, ...], region: Region, catalogue: Catalogue) -> str:
    zones = [
        f"{zone.name} has {joined(found)}"
        for zone in region.zones
        if (found := [name for name in wanted if name in zone.accelerators])
    ]
    others = [
        place.name
        for place in catalogue.regions.values()
        if _zones_with(dict.fromkeys(wanted), place)
    ]
    way_out = (
        f"allowed: a region with such a zone, {listed(others)}"
        if others
        else "no other region has such a zone either: ask for fewer kinds of accelerators"
    )
    return (
        f"{quoted(region.name)} given; all replicas of a job run in one zone, and none of this "
        f"region has {joined(wanted)} together: {'; '.join(zones)}; {way_out}"
    )
