"""The catalogue: machine types, accelerators, regions with their zones, scale tiers."""

from footplate.domain.catalogue.values import (
    Accelerator,
    AcceleratorKind,
    Catalogue,
    DeviceLimit,
    Family,
    MachineType,
    Region,
    ScaleTier,
    Zone,
)

__all__ = [
    "Accelerator",
    "AcceleratorKind",
    "Catalogue",
    "DeviceLimit",
    "Family",
    "MachineType",
    "Region",
    "ScaleTier",
    "Zone",
]
