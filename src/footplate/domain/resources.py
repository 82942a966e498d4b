"""Amounts of resources, with their units and names."""

from __future__ import annotations

from collections import Counter
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

_WORDS = {REPLICAS: "replica", VCPUS: "vCPU", GPUS: "GPU", JOBS: "job"}
_MIB_PER_GB = 1024


def total(amounts: Iterable[Mapping[str, int]]) -> Amounts:
    added: Counter[str] = Counter()
    for each in amounts:
        added.update(each)
    return dict(added)


def say_amount(resource: str, amount: int) -> str:
    """Formats an amount with its unit: ``4 NVIDIA_TESLA_T4``, ``1 job``, ``7.5 GB of memory``."""
    if resource == MEMORY_MB:
        return f"{say_gb(amount)} of memory"
    return f"{amount} {say_resource(resource, amount)}"


def say_resource(resource: str, amount: int = 2) -> str:
    """Returns the word for a resource, in the plural unless ``amount`` is 1; else its own name."""
    word = _WORDS.get(resource)
    if word is None:
        return resource
    return word if amount == 1 else f"{word}s"


def say_gb(mib: int) -> str:
    return f"{round(mib / _MIB_PER_GB, 1):g} GB"
