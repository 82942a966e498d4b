"""Parses a document into a draft, checking every field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.catalogue import machine_types, names
from footplate.catalogue.draft import Draft, Parts, Removals
from footplate.catalogue.operator_runtimes import read_own_runtimes
from footplate.catalogue.toml_table import MAX_VCPUS, Table
from footplate.domain.catalogue import (
    Accelerator,
    AcceleratorKind,
    DeviceLimit,
    Region,
    ScaleTier,
    Zone,
)
from footplate.domain.jobs import MachineSpec

if TYPE_CHECKING:
    from footplate.catalogue.document import Document


def read_draft(document: Document) -> Draft:
    """What is wrong with it is noted in the document; the rest is read."""
    root = Table(document, (), document.content)
    draft = Draft(
        replace=root.flag("replace"),
        parts=Parts(
            machine_types=machine_types.read_machine_types(root),
            accelerators=_accelerators(root.table("accelerators")),
            regions=_regions(root.table("regions")),
            scale_tiers=_scale_tiers(root.table("scale_tiers")),
        ),
        attachments=machine_types.read_attachments(root),
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
        table.fault("limits", "two limits for the same count; allowed: one for each count")
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
    """Only those without a fault: nothing names the others, so nobody will miss them."""
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
    """The machine of a role, and how many there are of it."""
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
