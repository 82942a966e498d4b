"""Quotas that are forgotten at the end: for tests, and the oracle of the real store."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.catalogue import Accelerator, AcceleratorKind, Catalogue, Region
from footplate.domain.quotas import Quota
from footplate.domain.runtimes import Runtimes
from footplate.store.input_checks import check_quota_texts

if TYPE_CHECKING:
    from collections.abc import Mapping


CATALOGUE = Catalogue(
    machine_types={},
    accelerators={
        "NVIDIA_TESLA_T4": Accelerator("NVIDIA_TESLA_T4", AcceleratorKind.GPU, 16),
        "TPU_V2": Accelerator("TPU_V2", AcceleratorKind.TPU, 64),
    },
    regions={name: Region(name) for name in ("us-central1", "europe-west4")},
    scale_tiers={},
    runtimes=Runtimes((), "", {}),
)
"""As much of one as quotas know."""


class MemoryQuotas:
    """``footplate.ports.quotas.QuotaStore`` in a dictionary."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._limits: dict[tuple[str, str], dict[str, int]] = {}

    def list(self) -> tuple[Quota, ...]:
        with self._lock:
            found = sorted((*scope, dict(limits)) for scope, limits in self._limits.items())
        return tuple(Quota(project, region, limits) for project, region, limits in found if limits)

    def change(self, project: str, region: str, limits: Mapping[str, int | None]) -> None:
        check_quota_texts(project, region, limits)
        with self._lock:
            changed = {**self._limits.get((project, region), {}), **limits}
            kept = {name: amount for name, amount in changed.items() if amount is not None}
            self._limits[project, region] = kept

    def remove(self, project: str, region: str) -> None:
        with self._lock:
            self._limits.pop((project, region), None)
