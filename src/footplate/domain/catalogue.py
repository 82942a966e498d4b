"""The catalogue: machine types, accelerators, regions with zones, scale tiers; its consistency."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain

from footplate.domain.formatting import nearest, quoted
from footplate.domain.jobs import MachineSpec
from footplate.domain.runtimes import Runtimes


@dataclass(frozen=True)
class Inconsistency:
    """A fault in the catalogue.

    ``path`` has the keys that lead to it, such as machine_types, n1-standard-4, accelerators.
    """

    path: tuple[str | int, ...]
    description: str


def inconsistencies(catalogue: Catalogue) -> Iterator[Inconsistency]:
    """Yields all inconsistencies; a catalogue without any may be used."""
    for kind, found in (
        ("machine_types", catalogue.machine_types),
        ("accelerators", catalogue.accelerators),
        ("regions", catalogue.regions),
    ):
        if not found:
            yield Inconsistency((kind,), f"the catalogue has no {kind}; it needs at least one")
    for machine_type in catalogue.machine_types.values():
        yield from _in_machine_type(machine_type, catalogue)
    for region in catalogue.regions.values():
        yield from _in_region(region, catalogue)
    for name, tier in catalogue.scale_tiers.items():
        yield from _in_scale_tier(name, tier, catalogue)


def _in_machine_type(machine: MachineType, catalogue: Catalogue) -> Iterator[Inconsistency]:
    path = ("machine_types", machine.name)
    if machine.family is Family.LEGACY and machine.accelerators:
        text = (
            "legacy machine types take no accelerators; allowed: included = { accelerator, count }"
        )
        yield Inconsistency((*path, "accelerators"), text)
    if machine.like is not None:
        yield from _in_like(machine, catalogue)
    for name, counts in machine.accelerators.items():
        where = (*path, "accelerators", name)
        yield from _unknown(where, name, catalogue.accelerators, "accelerator")
        for count in counts:
            yield from _beyond_limits(where, machine, name, count, catalogue)
    if machine.included is not None:
        name, count = machine.included
        yield from _unknown((*path, "included"), name, catalogue.accelerators, "accelerator")
        yield from _beyond_limits((*path, "included"), machine, name, count, catalogue)


def _in_like(machine: MachineType, catalogue: Catalogue) -> Iterator[Inconsistency]:
    like = machine.like or ""
    path = ("machine_types", machine.name, "like")
    model = catalogue.machine_types.get(like)
    yield from _unknown(path, like, catalogue.machine_types, "machine type")
    if model is not None and model.family is not Family.COMPUTE_ENGINE:
        yield Inconsistency(
            path, f"{like!r} given; allowed: a machine type of the family COMPUTE_ENGINE"
        )


def _beyond_limits(
    path: tuple[str | int, ...],
    machine: MachineType,
    name: str,
    count: int,
    catalogue: Catalogue,
) -> Iterator[Inconsistency]:
    """Yields the limits that a machine with ``count`` accelerators of this type exceeds."""
    known = catalogue.accelerators.get(name)
    for limit in known.limits if known is not None else ():
        if limit.count != count:
            continue
        for have, most, unit in (
            (machine.vcpus, limit.vcpus, "vCPUs"),
            (machine.memory_gb, limit.memory_gb, "GB of memory"),
        ):
            if most is not None and have > most:
                text = (
                    f"machine type {machine.name} has {have:g} {unit}, but a machine with {count} "
                    f"{name} has at most {most:g}: take more accelerators, or a smaller machine"
                )
                yield Inconsistency(path, text)


def _in_region(region: Region, catalogue: Catalogue) -> Iterator[Inconsistency]:
    path = ("regions", region.name, "zones")
    if not region.zones:
        yield Inconsistency(path, "the region has no zone; it needs at least one")
    for zone in region.zones:
        for name in sorted(zone.accelerators):
            where = (*path, zone.name.removeprefix(f"{region.name}-"))
            yield from _unknown(where, name, catalogue.accelerators, "accelerator")


def _in_scale_tier(name: str, tier: ScaleTier, catalogue: Catalogue) -> Iterator[Inconsistency]:
    families: dict[Family, str] = {}
    for role, machine in (
        ("master", tier.master),
        ("worker", tier.worker),
        ("parameter_server", tier.parameter_server),
    ):
        if machine is None:
            continue
        yield from _in_role(("scale_tiers", name, role), machine, catalogue)
        known = catalogue.machine_types.get(machine.machine_type)
        if known is not None and known.family is not Family.TPU:
            families[known.family] = machine.machine_type
    if len(families) > 1:
        text = f"legacy and Compute Engine machine types given: {', '.join(families.values())}"
        yield Inconsistency(("scale_tiers", name), f"{text}; allowed: types of one family")


def _in_role(
    path: tuple[str | int, ...], machine: MachineSpec, catalogue: Catalogue
) -> Iterator[Inconsistency]:
    type_path = (*path, "machine_type")
    yield from _unknown(type_path, machine.machine_type, catalogue.machine_types, "machine type")
    name, count = machine.accelerator_type, machine.accelerator_count
    if name is None:
        return
    yield from _unknown((*path, "accelerator"), name, catalogue.accelerators, "accelerator")
    valid = _valid_counts(machine, name, catalogue)
    if name in catalogue.accelerators and count not in valid:
        allowed = ", ".join(map(str, sorted(valid))) or f"none: this machine type takes no {name}"
        text = f"{count} {name} on {machine.machine_type} given; allowed: {allowed}"
        yield Inconsistency((*path, "accelerator_count"), text)


def _valid_counts(machine: MachineSpec, name: str, catalogue: Catalogue) -> frozenset[int]:
    """Returns how many accelerators of a type the machine may have.

    A TPU is a separate machine beside the one that uses it, so the machine types of TPUs decide.
    """
    kind = catalogue.machine_types.get(machine.machine_type)
    types: Iterable[MachineType] = () if kind is None else (kind,)
    known = catalogue.accelerators.get(name)
    if known is not None and known.kind is AcceleratorKind.TPU:
        types = (t for t in catalogue.machine_types.values() if t.family is Family.TPU)
    return frozenset(chain.from_iterable(t.accelerators.get(name, ()) for t in types))


def _unknown(
    path: tuple[str | int, ...], name: str, known: Collection[str], what: str
) -> Iterator[Inconsistency]:
    if name not in known:
        text = f"there is no {what} {quoted(name)} in the catalogue"
        yield Inconsistency(path, f"{text}; {nearest(name, known, f'{what}s')}")


class AcceleratorKind(Enum):
    GPU = "GPU"
    TPU = "TPU"


@dataclass(frozen=True)
class DeviceLimit:
    """The limits of a machine with ``count`` accelerators of one type; None: no limit is known."""

    count: int
    vcpus: int | None = None
    memory_gb: float | None = None


@dataclass(frozen=True)
class Accelerator:
    """An accelerator type.

    ``name`` is its spelling in the APIs. ``limits`` explain why a machine type doesn't take a
    smaller number of accelerators.
    """

    name: str
    kind: AcceleratorKind
    memory_gb: float
    """Of one device."""
    limits: tuple[DeviceLimit, ...] = ()


class Family(Enum):
    """A family of machine types.

    All replicas of a job are of one family; a TPU machine may be combined with either.
    """

    COMPUTE_ENGINE = "COMPUTE_ENGINE"
    LEGACY = "LEGACY"
    TPU = "TPU"


@dataclass(frozen=True)
class MachineType:
    """A machine type.

    ``accelerators`` has the accelerators that may be attached, each with its valid counts.
    ``included`` is the accelerator, with its count, that the type always has.
    """

    name: str
    family: Family
    vcpus: int
    memory_gb: float
    accelerators: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    included: tuple[str, int] | None = None
    like: str | None = None
    """The Compute Engine type that a legacy one stands for."""
    egress_gbps: float | None = None


@dataclass(frozen=True)
class Zone:
    name: str
    accelerators: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Region:
    name: str
    zones: tuple[Zone, ...] = ()

    @property
    def accelerators(self) -> frozenset[str]:
        """Returns the accelerators that any of the region's zones has."""
        return frozenset(name for zone in self.zones for name in zone.accelerators)


@dataclass(frozen=True)
class ScaleTier:
    """A predefined cluster of ml v1."""

    master: MachineSpec
    worker: MachineSpec | None = None
    worker_count: int = 0
    parameter_server: MachineSpec | None = None
    parameter_server_count: int = 0


@dataclass(frozen=True)
class Catalogue:
    """The catalogue's entries by their names."""

    machine_types: Mapping[str, MachineType]
    accelerators: Mapping[str, Accelerator]
    regions: Mapping[str, Region]
    scale_tiers: Mapping[str, ScaleTier]
    runtimes: Runtimes
    own: frozenset[str] = frozenset()
    """Names that Google's services don't know: those of an operator's file."""
