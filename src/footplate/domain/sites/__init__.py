"""Sites: the capacity of regions, and who holds it."""

from footplate.domain.sites.values import (
    EngineMachines,
    Gpu,
    MachinePool,
    Machines,
    Mode,
    Site,
    counted,
    gpus_of,
    memory_mb,
    too_large,
    tpus_of,
    unlimited_here,
)

__all__ = [
    "EngineMachines",
    "Gpu",
    "MachinePool",
    "Machines",
    "Mode",
    "Site",
    "counted",
    "gpus_of",
    "memory_mb",
    "too_large",
    "tpus_of",
    "unlimited_here",
]
