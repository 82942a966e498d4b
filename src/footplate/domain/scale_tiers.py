"""The predefined clusters of ml v1.

Source: the service's page on scale tiers; STANDARD_1 and PREMIUM_1 as its API reference has them.
"""

from __future__ import annotations

from dataclasses import dataclass

from footplate.domain.jobs import MachineSpec


@dataclass(frozen=True)
class ScaleTier:
    master: MachineSpec
    worker: MachineSpec | None = None
    worker_count: int = 0
    parameter_server: MachineSpec | None = None
    parameter_server_count: int = 0


SCALE_TIERS = {
    "BASIC": ScaleTier(MachineSpec("n1-standard-4")),
    "STANDARD_1": ScaleTier(
        MachineSpec("n1-highcpu-8"),
        MachineSpec("n1-highcpu-8"),
        4,
        MachineSpec("n1-standard-4"),
        3,
    ),
    "PREMIUM_1": ScaleTier(
        MachineSpec("n1-highcpu-16"),
        MachineSpec("n1-highcpu-16"),
        19,
        MachineSpec("n1-highmem-8"),
        11,
    ),
    "BASIC_GPU": ScaleTier(MachineSpec("n1-standard-8", "NVIDIA_TESLA_K80", 1)),
    "BASIC_TPU": ScaleTier(MachineSpec("n1-standard-4", "TPU_V2", 8)),
}
