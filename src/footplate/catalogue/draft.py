"""Drafts: the content of one catalogue file before merging."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.catalogue.toml_lines import Path
    from footplate.domain.catalogue import Accelerator, MachineType, Region, ScaleTier
    from footplate.domain.runtimes import Offer


@dataclass(frozen=True)
class Parts:
    """Entries by name. Machine types that are ``like`` another have no size of their own yet."""

    machine_types: Mapping[str, MachineType] = field(default_factory=dict)
    accelerators: Mapping[str, Accelerator] = field(default_factory=dict)
    regions: Mapping[str, Region] = field(default_factory=dict)
    scale_tiers: Mapping[str, ScaleTier] = field(default_factory=dict)


@dataclass(frozen=True)
class Attachment:
    """Machine types, of this file or below it, that take an accelerator in these counts."""

    path: Path
    machine_types: tuple[str, ...]
    accelerators: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Removals:
    """Names that are in the catalogue below, and shall not be in this one."""

    machine_types: tuple[str, ...] = ()
    accelerators: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    scale_tiers: tuple[str, ...] = ()
    runtimes: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnRuntimes:
    """Runtimes of an operator; ``locks`` are texts by their SHA-256, ``default`` a version."""

    offers: tuple[Offer, ...] = ()
    locks: Mapping[str, str] = field(default_factory=dict, repr=False)
    default: str = ""


@dataclass(frozen=True)
class Draft:
    """One file: what it adds to the catalogue below it, or puts in its place."""

    replace: bool = False
    parts: Parts = field(default_factory=Parts)
    attachments: tuple[Attachment, ...] = ()
    removals: Removals = field(default_factory=Removals)
    runtimes: OwnRuntimes = field(default_factory=OwnRuntimes)
