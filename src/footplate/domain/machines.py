"""Checks the machines that a job requests, and finds the zones that have them.

Source of the rules: the service's pages on machine types and on GPUs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from footplate.domain.catalogue import (
    Accelerator,
    Catalogue,
    DeviceLimit,
    Family,
    MachineType,
    Region,
)
from footplate.domain.errors import Violation
from footplate.domain.formatting import joined, listed, nearest, quoted
from footplate.domain.jobs import MachineSpec


def check_place(
    requests: Sequence[MachineRequest], region: str, region_field: str, catalogue: Catalogue
) -> Iterator[Violation]:
    """Checks that the region is known, and that one of its zones has all the accelerators."""
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
    """Returns a machine's accelerator, asked for or included in its type, and the count."""
    kind = catalogue.machine_types.get(machine.machine_type)
    if machine.accelerator_type is None and kind is not None and kind.included is not None:
        return kind.included
    return machine.accelerator_type, machine.accelerator_count


def zones_for(
    machines: Sequence[MachineSpec], region: str, catalogue: Catalogue
) -> tuple[str, ...]:
    """Returns the zones of the region that have every accelerator of these machines, in order."""
    wanted = {accelerators_of(machine, catalogue)[0] for machine in machines} - {None}
    known = catalogue.regions.get(region)
    zones = known.zones if known is not None else ()
    return tuple(zone.name for zone in zones if wanted <= zone.accelerators)


def _zones_with(wanted: dict[str, None], region: Region) -> bool:
    return any(wanted.keys() <= zone.accelerators for zone in region.zones)


def unknown_region(region: str, catalogue: Catalogue) -> str:
    """Describes what is wrong with a region that the catalogue doesn't have."""
    known = nearest(region, catalogue.regions, "regions")
    if not region:
        return f"required: the region of the job; {known}"
    return f"{quoted(region)} given, which is not a region of the catalogue; {known}"


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
        f"{quoted(region.name)} given; all replicas of a job run in one zone, but no zone of "
        f"this region has {joined(wanted)} together: {'; '.join(zones)}; {way_out}"
    )


def check_accelerators(
    request: MachineRequest, kind: MachineType | None, catalogue: Catalogue
) -> Iterator[Violation]:
    """Yields what is wrong with a request's accelerators.

    ``kind`` is the machine type; None: the type is unknown, and so are the accelerators that it
    allows.
    """
    name, count = request.machine.accelerator_type, request.machine.accelerator_count
    if name is None and not count:
        return
    if kind is not None and kind.family is Family.LEGACY:
        field = request.accelerator_type_field if name else request.accelerator_count_field
        yield Violation(field, _legacy(kind))
    elif name is None:
        said = f"required: the accelerator type, because the count is {count}{_takes(kind)}"
        yield Violation(request.accelerator_type_field, said)
    elif name not in catalogue.accelerators:
        said = f"{quoted(name)} given, which is not an accelerator of the catalogue{_takes(kind)}"
        yield Violation(request.accelerator_type_field, said)
    elif kind is not None and name not in attachable(kind):
        said = _not_attachable(kind, catalogue.accelerators[name], catalogue)
        yield Violation(request.accelerator_type_field, said)
    else:
        yield from _check_count(request, kind, catalogue.accelerators[name])


def attachable(kind: MachineType) -> Mapping[str, tuple[int, ...]]:
    """Returns the accelerators that may be named with a machine type, with their valid counts."""
    if kind.included is None or kind.family is Family.LEGACY:
        return kind.accelerators
    name, count = kind.included
    return {name: (count,)} | dict(kind.accelerators)


def _check_count(
    request: MachineRequest, kind: MachineType | None, accelerator: Accelerator
) -> Iterator[Violation]:
    count, field = request.machine.accelerator_count, request.accelerator_count_field
    valid = attachable(kind)[accelerator.name] if kind is not None else ()
    if kind is None:
        if count < 1:
            given = f"{count} given" if count else "required"
            yield Violation(field, f"{given}: how many {accelerator.name}, at least 1")
    elif not count:
        said = f"required beside {accelerator.name}: {_counts(kind, valid)}"
        yield Violation(field, said)
    elif count not in valid:
        reason = _reason(kind, accelerator, count, valid)
        said = f"{accelerator.name} x{count} on {kind.name}: {_counts(kind, valid, on='')}{reason}"
        yield Violation(field, said)


def _counts(kind: MachineType, valid: tuple[int, ...], on: str | None = None) -> str:
    numbers = ", ".join(str(number) for number in valid)
    on = f" on {kind.name}" if on is None else on
    return (
        f"valid counts{on} are {numbers}" if len(valid) > 1 else f"the valid count{on} is {numbers}"
    )


def _legacy(kind: MachineType) -> str:
    own = "{1} {0}, which this type always has".format(*kind.included) if kind.included else "none"
    like = f", such as {kind.like}" if kind.like else ""
    return (
        f"{kind.name} is a legacy machine type, which takes no accelerators (it comes with {own}); "
        f"allowed: a Compute Engine machine type that takes them{like}"
    )


def _takes(kind: MachineType | None) -> str:
    if kind is None:
        return ""
    allowed = attachable(kind)
    if not allowed:
        return f"; {kind.name} takes no accelerators"
    return f"; {kind.name} takes {listed([_with_counts(*entry) for entry in allowed.items()])}"


def _with_counts(name: str, counts: tuple[int, ...]) -> str:
    return f"{name} ({', '.join(str(count) for count in counts)})"


def _not_attachable(kind: MachineType, accelerator: Accelerator, catalogue: Catalogue) -> str:
    largest = max(accelerator.limits, key=lambda limit: limit.count, default=None)
    reason = ""
    if attachable(kind) and largest is not None and _exceeds(kind, largest):
        reason = f", since {_size(kind)} and {_serves(accelerator, largest)}"
    others = sorted(
        (
            other
            for other in catalogue.machine_types.values()
            if accelerator.name in attachable(other)
        ),
        key=lambda other: (
            abs(other.vcpus - kind.vcpus),
            abs(other.memory_gb - kind.memory_gb),
            other.name,
        ),
    )
    names = [other.name for other in others if other.family is not Family.LEGACY]
    into = f"; {accelerator.name} goes with {listed(names, 4)}" if names else ""
    return f"{accelerator.name} can't be attached to {kind.name}{reason}{_takes(kind)}{into}"


def _reason(kind: MachineType, accelerator: Accelerator, count: int, valid: tuple[int, ...]) -> str:
    """Returns why a machine needs more accelerators than asked for, if the limits say so."""
    known = [limit for limit in accelerator.limits if limit.count <= count]
    nearest = max(known, key=lambda limit: limit.count, default=None)
    if nearest is None or count > min(valid) or not _exceeds(kind, nearest):
        return ""
    return (
        f"; {_size(kind)}, {_serves(accelerator, nearest)}, so this type needs at least "
        f"{min(valid)}"
    )


def _exceeds(kind: MachineType, limit: DeviceLimit) -> bool:
    return (limit.vcpus is not None and kind.vcpus > limit.vcpus) or (
        limit.memory_gb is not None and kind.memory_gb > limit.memory_gb
    )


def _size(kind: MachineType) -> str:
    return f"{kind.name} has {kind.vcpus} vCPU and {kind.memory_gb:g} GB"


def _serves(accelerator: Accelerator, limit: DeviceLimit) -> str:
    most = []
    if limit.vcpus is not None:
        most.append(f"{limit.vcpus} vCPU")
    if limit.memory_gb is not None:
        most.append(f"{limit.memory_gb:g} GB")
    serve = "serves" if limit.count == 1 else "serve"
    return f"{limit.count} {accelerator.name} {serve} at most {joined(most)}"


@dataclass(frozen=True)
class MachineRequest:
    """The machine of a pool's replicas, and the request's fields that name it, for errors."""

    machine: MachineSpec
    type_field: str
    accelerator_type_field: str
    accelerator_count_field: str
    brought_by: str = ""
    """What the request says instead of naming the machine: a scale tier."""


def check_machines(
    requests: Sequence[MachineRequest], region: str, region_field: str, catalogue: Catalogue
) -> Iterator[Violation]:
    """Yields every violation of the catalogue by a job's machines in a region.

    Each field has at most one violation, which describes all that is wrong with it. Requests
    without a machine type are left to their API, except for the accelerators that they name.
    """
    alone = (violation for request in requests for violation in check_machine(request, catalogue))
    together = _check_families(requests, catalogue)
    placed = check_place(requests, region, region_field, catalogue)
    fields_by_text: dict[str, list[str]] = {}
    for violation in chain(alone, together, placed):
        said = fields_by_text.setdefault(violation.field, [])
        if violation.description not in said:
            said.append(violation.description)
    for field, said in fields_by_text.items():
        yield Violation(field, "; and ".join(said))


def check_machine(request: MachineRequest, catalogue: Catalogue) -> Iterator[Violation]:
    """Yields what is wrong with a machine in any region."""
    name = request.machine.machine_type
    kind = catalogue.machine_types.get(name)
    if name and kind is None:
        known = nearest(name, catalogue.machine_types, "machine types")
        text = f"{quoted(name)} given, which is not a machine type of the catalogue; {known}"
        yield Violation(request.type_field, text)
    yield from check_accelerators(request, kind, catalogue)


def _check_families(
    requests: Sequence[MachineRequest], catalogue: Catalogue
) -> Iterator[Violation]:
    """Yields faults unless all replicas are of the family of the first one that isn't a TPU."""
    first: tuple[MachineRequest, MachineType] | None = None
    for request in requests:
        kind = catalogue.machine_types.get(request.machine.machine_type)
        if kind is None or kind.family is Family.TPU:
            continue
        if first is None:
            first = request, kind
        elif kind.family is not first[1].family:
            yield Violation(request.type_field, _mixed(kind, *first))


def _mixed(kind: MachineType, first: MachineRequest, other: MachineType) -> str:
    names = {Family.LEGACY: "a legacy machine type", Family.COMPUTE_ENGINE: "a Compute Engine type"}
    legacy = kind if kind.family is Family.LEGACY else other
    return (
        f"{quoted(kind.name)} given, {names.get(kind.family)}, but {quoted(other.name)} in "
        f"{first.type_field} is {names.get(other.family)}; allowed: one kind of machine type "
        f"for all replicas of a job{_instead(legacy)}"
    )


def _instead(legacy: MachineType) -> str:
    if legacy.like is None:
        return ""
    added = " with {1} {0}".format(*legacy.included) if legacy.included else ""
    return f"; {legacy.name} is like {legacy.like}{added}"
