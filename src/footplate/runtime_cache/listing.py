"""Lists the catalogue's runtimes with their state on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.domain.runtimes import Offer, Slice, Variant
    from footplate.replica.environment.cache import CacheEntry
    from footplate.replica.environment.interpreters import Interpreter


@dataclass(frozen=True)
class Environment:
    """A slice of a runtime that is built here, with the layers above it."""

    slice: str
    variants: tuple[Variant, ...]
    size_bytes: int
    used_at: float
    """When a replica used it last, in seconds of the epoch."""
    in_use: bool
    layers: int
    layers_bytes: int


@dataclass(frozen=True)
class Here:
    """A runtime, its interpreter on this machine if there is one, and its environments that are
    built.
    """

    offer: Offer
    interpreter: str | None
    interpreter_version: str | None
    built: tuple[Environment, ...]


@dataclass(frozen=True)
class Inventory:
    """The contents of the cache. ``others`` counts environments that no runtime of the catalogue
    uses.
    """

    cache: str
    limit_bytes: int
    free_bytes: int
    runtimes: tuple[Here, ...]
    environments: int
    environments_bytes: int
    others: int
    others_bytes: int
    uv_cache: str
    uv_cache_bytes: int


def stand(offer: Offer, interpreter: Interpreter | None, found: Sequence[CacheEntry]) -> Here:
    """Returns the state of a runtime in the cache; ``found`` are all environments in the cache."""
    by_lock = by_lock_of(found)
    pieces: dict[str, tuple[Slice, list[Variant]]] = {}
    for variant, slices in offer.runtime.variants.items():
        for piece in slices:
            pieces.setdefault(piece.lock_sha256, (piece, []))[1].append(variant)
    built = tuple(
        _environment(piece, tuple(variants), base, found)
        for sha256, (piece, variants) in pieces.items()
        for base in by_lock.get(sha256, ())
        if _is_for(base, offer.runtime.python)
    )
    if interpreter is None:
        return Here(offer, None, None, built)
    return Here(offer, interpreter.path, interpreter.version, built)


def _is_for(base: CacheEntry, python: str) -> bool:
    """Returns whether the environment has this version of Python; two runtimes may share a lock
    file.
    """
    version = base.record.python or python
    return f"{version}.".startswith(f"{python}.")


def by_lock_of(found: Sequence[CacheEntry]) -> Mapping[str, list[CacheEntry]]:
    """Returns the usable environments of runtimes, by their locks."""
    by_lock: dict[str, list[CacheEntry]] = {}
    for one in found:
        if one.entry.kind == "runtimes" and not one.entry.useless:
            by_lock.setdefault(one.record.lock_sha256, []).append(one)
    return by_lock


def _environment(
    piece: Slice, variants: tuple[Variant, ...], base: CacheEntry, found: Sequence[CacheEntry]
) -> Environment:
    above = [
        one for one in found if one.entry.kind == "layers" and one.record.base == piece.lock_sha256
    ]
    return Environment(
        slice=piece.name,
        variants=variants,
        size_bytes=base.entry.size_bytes,
        used_at=base.entry.used_at,
        in_use=base.entry.in_use,
        layers=len(above),
        layers_bytes=sum(one.entry.size_bytes for one in above),
    )
