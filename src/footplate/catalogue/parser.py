"""Parses a document into a draft, checking every field."""

from __future__ import annotations

from collections.abc import Mapping

from footplate.catalogue import names
from footplate.catalogue.document import Document, shown
from footplate.catalogue.draft import Attachment, Draft, Parts, Removals
from footplate.catalogue.operator_runtimes import read_own_runtimes
from footplate.catalogue.toml_table import MAX_VCPUS, Table
from footplate.domain.catalogue import (
    Accelerator,
    AcceleratorKind,
    DeviceLimit,
    Family,
    MachineType,
    Region,
    ScaleTier,
    Zone,
)
from footplate.domain.jobs import MachineSpec


def read_machine_types(root: Table) -> Mapping[str, MachineType]:
    """Reads the machine types of ``[series]`` and of ``[machine_types]``."""
    found: dict[str, MachineType] = {}
    for series, table in root.table("series").entries(names.MACHINE_TYPE, names.MACHINE_TYPE_FORM):
        found |= _series(series, table)
    entries = root.table("machine_types").entries(names.MACHINE_TYPE, names.MACHINE_TYPE_FORM)
    for name, table in entries:
        if name in found:
            table.fault(
                "", f"the machine type {name} is already in a series of this file; allowed: once"
            )
        found[name] = _machine_type(name, table)
    return found


def read_attachments(root: Table) -> tuple[Attachment, ...]:
    """Reads ``[[attachments]]``."""
    found = []
    seen: set[tuple[str, str]] = set()
    for table in root.tables("attachments"):
        attachment = Attachment(
            path=table.path,
            machine_types=table.texts("machine_types", required=True),
            accelerators=_counts(table),
        )
        pairs = {(t, a) for t in attachment.machine_types for a in attachment.accelerators}
        for machine_type, accelerator in sorted(pairs & seen):
            text = (
                f"an [[attachments]] table above already has {accelerator} for "
                f"{machine_type}; allowed: once"
            )
            table.fault("", text)
        seen |= pairs
        found.append(attachment)
        table.close()
    return tuple(found)


def _series(series: str, table: Table) -> dict[str, MachineType]:
    """Reads a series of machine types: ``n1-standard`` with 4 vCPUs is n1-standard-4."""
    sizes = table.increasing("vcpus", MAX_VCPUS)
    per_vcpu = table.amount("memory_gb_per_vcpu")
    egress = _egress(table, sizes)
    table.close()
    found = {}
    for vcpus in sizes:
        name = f"{series}-{vcpus}"
        memory_gb = round(vcpus * per_vcpu, 3)
        found[name] = MachineType(
            name, Family.COMPUTE_ENGINE, vcpus, memory_gb, egress_gbps=egress.get(vcpus)
        )
        table.document.derive(("machine_types", name), table.path)
    return found


def _egress(table: Table, sizes: tuple[int, ...]) -> dict[int, float]:
    entries = table.table("egress_gbps")
    found = {}
    for size in entries.names(names.VCPUS, "a number of vCPUs that the series has"):
        if int(size) in sizes:
            found[int(size)] = entries.amount(size)
        else:
            entries.fault(size, f"{shown(size)} given; allowed: {', '.join(map(str, sizes))}")
    return found


def _machine_type(name: str, table: Table) -> MachineType:
    family = Family(table.text("family", [f.value for f in Family], Family.COMPUTE_ENGINE.value))
    like = _like(table, family)
    vcpus, memory_gb = 0, 0.0
    if like is None:
        vcpus, memory_gb = table.whole("vcpus", MAX_VCPUS), table.amount("memory_gb")
    found = MachineType(
        name=name,
        family=family,
        vcpus=vcpus,
        memory_gb=memory_gb,
        accelerators=_counts(table),
        included=_included(table),
        like=like,
        egress_gbps=table.amount_or_none("egress_gbps"),
    )
    table.close()
    return found


def _like(table: Table, family: Family) -> str | None:
    """Reads ``like``, which legacy types have instead of vCPUs and memory of their own."""
    if family is not Family.LEGACY:
        if "like" in table:
            table.fault(
                "like",
                (
                    "only machine types of the family LEGACY can have this key; give vcpus and "
                    "memory_gb instead"
                ),
            )
            table.ask("like")
        return None
    for key in ("vcpus", "memory_gb"):
        if key in table:
            table.fault(
                key,
                (
                    "a legacy machine type takes vcpus and memory_gb from the machine type that "
                    "`like` names; leave this key out"
                ),
            )
        table.ask(key)
    return table.text("like") or None


def _included(table: Table) -> tuple[str, int] | None:
    if "included" not in table:
        table.ask("included")
        return None
    entry = table.table("included")
    included = entry.text("accelerator"), entry.whole("count")
    entry.close()
    return included if included[0] else None


def _counts(table: Table) -> dict[str, tuple[int, ...]]:
    entries = table.table("accelerators")
    accelerators = entries.names(names.ACCELERATOR, names.ACCELERATOR_FORM)
    return {name: entries.increasing(name) for name in accelerators}


def read_draft(document: Document) -> Draft:
    """Reads a catalogue; records faults in the document, and reads the rest."""
    root = Table(document, (), document.content)
    draft = Draft(
        replace=root.flag("replace"),
        parts=Parts(
            machine_types=read_machine_types(root),
            accelerators=_accelerators(root.table("accelerators")),
            regions=_regions(root.table("regions")),
            scale_tiers=_scale_tiers(root.table("scale_tiers")),
        ),
        attachments=read_attachments(root),
        removals=_removals(root.table("remove")),
        runtimes=read_own_runtimes(root, document.folder),
    )
    root.close()
    return draft


def _removals(table: Table) -> Removals:
    removals = Removals(
        machine_types=table.texts("machine_types"),
        accelerators=table.texts("accelerators"),
        regions=table.texts("regions"),
        scale_tiers=table.texts("scale_tiers"),
        runtimes=table.texts("runtimes"),
    )
    table.close()
    return removals


def _accelerators(table: Table) -> dict[str, Accelerator]:
    entries = table.entries(names.ACCELERATOR, names.ACCELERATOR_FORM)
    return {name: _accelerator(name, entry) for name, entry in entries}


def _accelerator(name: str, table: Table) -> Accelerator:
    kind = table.text("kind", [kind.value for kind in AcceleratorKind])
    accelerator = Accelerator(
        name=name,
        kind=AcceleratorKind(kind or "GPU"),
        memory_gb=table.amount("memory_gb"),
        limits=tuple(_limit(entry) for entry in table.tables("limits")),
    )
    table.close()
    counts = [limit.count for limit in accelerator.limits]
    if len(set(counts)) < len(counts):
        table.fault(
            "limits",
            "two limits are for the same count of accelerators; allowed: one for each count",
        )
    return accelerator


def _limit(table: Table) -> DeviceLimit:
    limit = DeviceLimit(
        count=table.whole("count"),
        vcpus=table.whole_or_none("vcpus", MAX_VCPUS),
        memory_gb=table.amount_or_none("memory_gb"),
    )
    table.close()
    return limit


def _regions(table: Table) -> dict[str, Region]:
    return {
        name: _region(name, entry) for name, entry in table.entries(names.REGION, names.REGION_FORM)
    }


def _region(name: str, table: Table) -> Region:
    zones = table.table("zones")
    found = tuple(
        Zone(f"{name}-{suffix}", frozenset(zones.texts(suffix)))
        for suffix in zones.names(names.ZONE, names.ZONE_FORM)
    )
    table.close()
    return Region(name, tuple(sorted(found, key=lambda zone: zone.name)))


def _scale_tiers(table: Table) -> dict[str, ScaleTier]:
    """Reads scale tiers; skips those with a fault, as nothing refers to them."""
    found = {}
    for name, entry in table.entries(names.SCALE_TIER, names.SCALE_TIER_FORM):
        faults = table.document.faults
        tier = _scale_tier(entry)
        if table.document.faults == faults:
            found[name] = tier
    return found


def _scale_tier(table: Table) -> ScaleTier:
    if "master" not in table:
        table.fault("", "master is missing")
    master, _ = _replicas(table, "master", counted=False)
    worker = _replicas(table, "worker")
    parameter_server = _replicas(table, "parameter_server")
    table.close()
    return ScaleTier(master or MachineSpec(""), *worker, *parameter_server)


def _replicas(table: Table, role: str, *, counted: bool = True) -> tuple[MachineSpec | None, int]:
    """Reads the machine of a role, and the number of its replicas."""
    table.ask(role)
    if role not in table:
        return None, 0
    entry = table.table(role)
    found = _machine(entry), entry.whole("count") if counted else 1
    entry.close()
    return found


def _machine(table: Table) -> MachineSpec:
    table.ask("accelerator")
    machine_type = table.text("machine_type")
    accelerator = table.text("accelerator") if "accelerator" in table else None
    count = table.whole_or_none("accelerator_count")
    if (accelerator is None) != (count is None):
        table.fault("", "accelerator and accelerator_count go together: give both, or neither")
    return MachineSpec(machine_type, accelerator, count or 0)
