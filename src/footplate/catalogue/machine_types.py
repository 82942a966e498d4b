"""Reads machine types: series, single types, and their attached accelerators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.catalogue import names
from footplate.catalogue.document import shown
from footplate.catalogue.draft import Attachment
from footplate.catalogue.toml_table import MAX_VCPUS
from footplate.domain.catalogue import Family, MachineType

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.catalogue.toml_table import Table


def read_machine_types(root: Table) -> Mapping[str, MachineType]:
    """Those of ``[series]`` and of ``[machine_types]``."""
    found: dict[str, MachineType] = {}
    for series, table in root.table("series").entries(names.MACHINE_TYPE, names.MACHINE_TYPE_FORM):
        found |= _series(series, table)
    entries = root.table("machine_types").entries(names.MACHINE_TYPE, names.MACHINE_TYPE_FORM)
    for name, table in entries:
        if name in found:
            table.fault("", f"{name} is in a series of this file already; allowed: once")
        found[name] = _machine_type(name, table)
    return found


def read_attachments(root: Table) -> tuple[Attachment, ...]:
    """Those of ``[[attachments]]``."""
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
            text = f"{accelerator} for {machine_type} is in an attachment above; allowed: once"
            table.fault("", text)
        seen |= pairs
        found.append(attachment)
        table.close()
    return tuple(found)


def _series(series: str, table: Table) -> dict[str, MachineType]:
    """``n1-standard`` with 4 vCPUs is n1-standard-4."""
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
    for size in entries.names(names.VCPUS, "vCPUs of the series"):
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
    """Given for legacy types, instead of vCPUs and memory of their own."""
    if family is not Family.LEGACY:
        if "like" in table:
            table.fault("like", "a legacy type alone is like another; give vcpus and memory_gb")
            table.ask("like")
        return None
    for key in ("vcpus", "memory_gb"):
        if key in table:
            table.fault(key, "a legacy type has those of the type that it is like")
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
