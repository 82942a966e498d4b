"""Drafts: the content of one catalogue file before merging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from footplate.catalogue.toml_lines import Path
from footplate.domain.catalogue import Accelerator, MachineType, Region, ScaleTier
from footplate.domain.runtimes import Offer


@dataclass(frozen=True)
class Parts:
    """Entries by name; machine types that are ``like`` another have no size yet."""

    machine_types: Mapping[str, MachineType] = field(default_factory=dict)
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)
    regions: Mapping[str, Region] = field(default_factory=dict)
    scale_tiers: Mapping[str, ScaleTier] = field(default_factory=dict)


@dataclass(frozen=True)
class Attachment:
    """The accelerators, with counts, that machine types of this or a lower file also allow."""

    path: Path
    machine_types: tuple[str, ...]
    accelerators: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Removals:
    """The names of the lower catalogue that this one removes."""

    machine_types: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    scale_tiers: tuple[str, ...] = ()
    runtimes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnRuntimes:
    """The runtimes of an operator; ``locks`` are texts by SHA-256, ``default`` is a version."""

    offers: tuple[Offer, ...] = ()
    locks: Mapping[str, str] = field(default_factory=dict, repr=False)
    default: str = ""


@dataclass(frozen=True)
class Draft:
    """The content of one file: what it adds to the catalogue below it, or replaces there."""

    replace: bool = False
    parts: Parts = field(default_factory=Parts)
    attachments: tuple[Attachment, ...] = ()
    removals: Removals = field(default_factory=Removals)
    runtimes: OwnRuntimes = field(default_factory=OwnRuntimes)
