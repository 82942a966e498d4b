"""What regions are bound to: how much of it there is, and who holds which part of it."""

from footplate.domain.sites.values import (
    Gpu,
    Mode,
    Site,
    counted,
    gpus_of,
    memory_mb,
    tpus_of,
    unlimited_here,
)

__all__ = ["Gpu", "Mode", "Site", "counted", "gpus_of", "memory_mb", "tpus_of", "unlimited_here"]
