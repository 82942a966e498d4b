"""Loads the catalogue: the built-in one, with the operator's file merged into it."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from footplate.catalogue import runtimes
from footplate.catalogue.document import Document
from footplate.catalogue.draft import Parts
from footplate.catalogue.merging import lay_over, sized
from footplate.catalogue.operator_runtimes import with_own
from footplate.catalogue.parser import read_draft
from footplate.domain.catalogue import Catalogue
from footplate.domain.catalogue.consistency import inconsistencies

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.domain.runtimes import Runtimes

_BUILT_IN_HINT = " (built in: describe it anew, or remove it)"
_BUILT_IN = ("accelerators.toml", "machine_types.toml", "regions.toml", "scale_tiers.toml")


def load_catalogue(extra: Path | None = None) -> Catalogue:
    """The built-in catalogue, with the file ``extra`` laid over it.

    Raises:
        InvalidArgument: with everything that is wrong with the file; the field of each violation
            is ``FILE:LINE: path``.
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
