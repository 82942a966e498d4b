"""Sites: the capacity of regions, and who holds it."""

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
