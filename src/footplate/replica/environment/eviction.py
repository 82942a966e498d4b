"""Chooses the environments to evict from the cache. Pure."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterable


class Entry:
    """One environment: ``kind`` is runtimes or layers.

    ``kept``: jobs of a persistent resource have used it, and it stays while that exists.
    ``useless``: it is half-built, or was moved here from elsewhere, so that nobody can use it.
    """

    __slots__ = ("in_use", "kept", "key", "kind", "size_bytes", "used_at", "useless")

    def __init__(
        self,
        kind: str,
        key: str,
        size_bytes: int,
        used_at: float,
        *,
        in_use: bool = False,
        kept: bool = False,
        useless: bool = False,
    ) -> None:
        self.kind = kind
        self.key = key
        self.size_bytes = size_bytes
        self.used_at = used_at
        self.in_use = in_use
        self.kept = kept
        self.useless = useless


class EvictionPolicy:
    """The entries to remove besides unusable ones; None: nothing.

    ``unused_for_s``: what nobody has used for so long. ``below_bytes``: as much, least recently
    used first, as it takes to have no more than that.
    """

    __slots__ = ("below_bytes", "everything", "unused_for_s")

    def __init__(
        self,
        *,
        unused_for_s: float | None = None,
        below_bytes: int | None = None,
        everything: bool = False,
    ) -> None:
        self.unused_for_s = unused_for_s
        self.below_bytes = below_bytes
        self.everything = everything


def choose(entries: Iterable[Entry], policy: EvictionPolicy, now: float) -> list[Entry]:
    """Returns entries to remove, in order; none in use, and kept ones only if all go.

    Of several used at one moment layers go first: they take less to make again.
    """
    every = list(entries)
    left_bytes = sum(entry.size_bytes for entry in every)
    free = [entry for entry in every if not entry.in_use and not _stays(entry, policy)]
    chosen = []
    for entry in sorted(free, key=_rank):
        if _must_go(entry, policy, now) or _is_too_much(left_bytes, policy):
            chosen.append(entry)
            left_bytes -= entry.size_bytes
    return chosen


def _rank(entry: Entry) -> tuple[bool, float, str, str]:
    """Returns the order of removal: useless entries first, for they make room for others to
    stay.
    """
    return not entry.useless, entry.used_at, entry.kind, entry.key


def _stays(entry: Entry, policy: EvictionPolicy) -> bool:
    return entry.kept and not entry.useless and not policy.everything


def _must_go(entry: Entry, policy: EvictionPolicy, now: float) -> bool:
    if entry.useless or policy.everything:
        return True
    return policy.unused_for_s is not None and now - entry.used_at >= policy.unused_for_s


def _is_too_much(left_bytes: int, policy: EvictionPolicy) -> bool:
    return policy.below_bytes is not None and left_bytes > policy.below_bytes
