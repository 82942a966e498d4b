"""Loads the catalogue: the built-in one, with the operator's file merged into it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar

from footplate.catalogue import runtimes
from footplate.catalogue.document import Document, shown
from footplate.catalogue.draft import Draft, Parts, Removals
from footplate.catalogue.operator_runtimes import with_own
from footplate.catalogue.parser import read_draft
from footplate.domain.catalogue import Catalogue, MachineType, Region, inconsistencies
from footplate.domain.formatting import nearest
from footplate.domain.runtimes import Runtimes

_T = TypeVar("_T")


def lay_over(below: Parts, draft: Draft, document: Document) -> Parts:
    """Applies a draft to ``below``: removals, then additions, then attachments."""
    _check_removals(below, draft, document)
    kept = Parts() if draft.replace else _without(below, draft.removals)
    machine_types = {**kept.machine_types, **draft.parts.machine_types}
    return Parts(
        machine_types=_attach(machine_types, draft, document),
        accelerators={**kept.accelerators, **draft.parts.accelerators},
        regions=dict(sorted({**kept.regions, **draft.parts.regions}.items())),
        scale_tiers={**kept.scale_tiers, **draft.parts.scale_tiers},
    )


def sized(machine_types: Mapping[str, MachineType]) -> dict[str, MachineType]:
    """Gives machine types that are like another one the size of that type."""
    return {name: _sized(machine, machine_types) for name, machine in machine_types.items()}


def _sized(machine: MachineType, known: Mapping[str, MachineType]) -> MachineType:
    model = known.get(machine.like or "")
    if model is None:
        return machine
    return replace(machine, vcpus=model.vcpus, memory_gb=model.memory_gb)


def _check_removals(below: Parts, draft: Draft, document: Document) -> None:
    removals, parts = draft.removals, draft.parts
    kinds: tuple[tuple[str, tuple[str, ...], Collection[str], Collection[str]], ...] = (
        ("machine_types", removals.machine_types, below.machine_types, parts.machine_types),
        ("accelerators", removals.accelerators, below.accelerators, parts.accelerators),
        ("regions", removals.regions, below.regions, parts.regions),
        ("scale_tiers", removals.scale_tiers, below.scale_tiers, parts.scale_tiers),
    )
    for kind, removed, there, described in kinds:
        path = ("remove", kind)
        if removed and draft.replace:
            document.fault(
                path,
                "replace = true already leaves out all built-in entries; leave this list out",
            )
        for index, name in enumerate(removed):
            if name not in there:
                hint = nearest(name, there, kind.replace("_", " "))
                text = f"{shown(name)} given, which isn't in the catalogue; {hint}"
                document.fault((*path, index), text)
            if name in described:
                text = (
                    f"this file both removes and describes {shown(name)}; allowed: one of the two"
                )
                document.fault((*path, index), text)


def _without(below: Parts, removals: Removals) -> Parts:
    """Returns the entries that remain; accelerators also leave machine types and zones."""
    gone = frozenset(removals.accelerators)
    return Parts(
        machine_types={
            name: replace(machine, accelerators=_left(machine.accelerators, gone))
            for name, machine in _left(below.machine_types, removals.machine_types).items()
        },
        accelerators=_left(below.accelerators, gone),
        regions={
            name: _without_accelerators(region, gone)
            for name, region in _left(below.regions, removals.regions).items()
        },
        scale_tiers=_left(below.scale_tiers, removals.scale_tiers),
    )


def _left(entries: Mapping[str, _T], gone: Collection[str]) -> dict[str, _T]:
    return {name: entry for name, entry in entries.items() if name not in gone}


def _without_accelerators(region: Region, gone: frozenset[str]) -> Region:
    zones = (replace(zone, accelerators=zone.accelerators - gone) for zone in region.zones)
    return replace(region, zones=tuple(zones))


def _attach(
    machine_types: dict[str, MachineType], draft: Draft, document: Document
) -> dict[str, MachineType]:
    found = dict(machine_types)
    for attachment in draft.attachments:
        for index, name in enumerate(attachment.machine_types):
            if name not in found:
                hint = nearest(name, found, "machine types")
                text = f"there is no machine type {shown(name)} in the catalogue; {hint}"
                document.fault((*attachment.path, "machine_types", index), text)
                continue
            machine = found[name]
            counts = {**machine.accelerators, **attachment.accelerators}
            found[name] = replace(machine, accelerators=counts)
            for accelerator in attachment.accelerators:
                path = ("machine_types", name, "accelerators", accelerator)
                document.derive(path, (*attachment.path, "accelerators", accelerator))
    return found


_BUILT_IN_HINT = " (a built-in entry: describe the entry anew in your file, or remove it)"
_BUILT_IN = ("accelerators.toml", "machine_types.toml", "regions.toml", "scale_tiers.toml")


def load_catalogue(extra: Path | None = None) -> Catalogue:
    """Loads the built-in catalogue, changed by the file ``extra`` if there is one.

    Raises:
        InvalidArgument: has all faults of the file; the field of each violation is
            ``FILE:LINE: path``.
    """
    built_in = _built_in()
    if extra is None:
        return _catalogue(built_in, runtimes.load())
    document = Document.read(extra)
    draft = read_draft(document)
    parts = lay_over(built_in, draft, document)
    known = with_own(runtimes.load(), draft.runtimes, draft.removals.runtimes, document)
    names = {*_names(parts), *(offer.runtime.name for offer in draft.runtimes.offers)}
    catalogue = _catalogue(parts, known, frozenset(names - _names(built_in)))
    for found in inconsistencies(catalogue):
        own = document.has(found.path[:2]) or document.has(found.path)
        document.fault(found.path, found.description + ("" if own else _BUILT_IN_HINT))
    document.refuse_faults()
    return catalogue


@cache
def _built_in() -> Parts:
    parts = Parts()
    for name in _BUILT_IN:
        text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
        document = Document(name, text)
        parts = lay_over(parts, read_draft(document), document)
        document.refuse_faults()
    return parts


def _catalogue(parts: Parts, known: Runtimes, own: frozenset[str] = frozenset()) -> Catalogue:
    return Catalogue(
        machine_types=sized(parts.machine_types),
        accelerators=parts.accelerators,
        regions=parts.regions,
        scale_tiers=parts.scale_tiers,
        runtimes=known,
        own=own,
    )


def _names(parts: Parts) -> frozenset[str]:
    kinds = (getattr(parts, kind.name) for kind in fields(parts))
    zones = (zone.name for region in parts.regions.values() for zone in region.zones)
    return frozenset(zones).union(*kinds)
