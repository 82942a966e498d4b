"""Rules for boot disks that both APIs share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MIN_DISK_GB = 10
MAX_DISK_GB = 65_536
"""The bounds of Compute Engine's boot disks."""


def check_disk(
    kind: str | None, size_gb: int | None, types: Sequence[str], field: str
) -> Iterator[Violation]:
    """``types`` are those of the face; absent ones, and 0 GB, are the default."""
    if kind and kind not in types:
        allowed = ", ".join(types)
        yield Violation(f"{field}.bootDiskType", f"{describe(kind)} given; allowed: {allowed}")
    if size_gb and not MIN_DISK_GB <= size_gb <= MAX_DISK_GB:
        allowed = f"{MIN_DISK_GB} to {MAX_DISK_GB} GB, or 0 for the default of 100"
        yield Violation(f"{field}.bootDiskSizeGb", f"{size_gb} given; allowed: {allowed}")
