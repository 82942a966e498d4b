"""Amounts of resources: what jobs hold, what there is, what a quota allows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Amounts = dict[str, int]
"""By resource; what isn't in it is 0. Accelerators go by their API names."""

REPLICAS = "replicas"
"""Replicas that run at once."""
VCPUS = "vcpus"
MEMORY_MB = "memory_mb"
"""In MiB."""
GPUS = "gpus"
"""GPUs of a host, of whatever type."""
JOBS = "jobs"
"""Jobs that have been admitted and haven't ended."""


def total(amounts: Iterable[Mapping[str, int]]) -> Amounts:
    added: Counter[str] = Counter()
    for each in amounts:
        added.update(each)
    return dict(added)
