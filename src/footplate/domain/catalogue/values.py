"""Values of the catalogue: machine types, accelerators, regions with their zones, scale tiers.

The values are data (``footplate.catalogue``), and an operator's file may add to them. A
`Catalogue` is consistent: whatever one entry names, another one describes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.jobs import MachineSpec
    from footplate.domain.runtimes import Runtimes


class AcceleratorKind(Enum):
    GPU = "GPU"
    TPU = "TPU"


@dataclass(frozen=True)
class DeviceLimit:
    """Machines with ``count`` of an accelerator have at most so much; None: no limit known."""

    count: int
    vcpus: int | None = None
    memory_gb: float | None = None


@dataclass(frozen=True)
class Accelerator:
    """``name`` as the APIs spell it; ``limits`` explain why a machine type takes no fewer."""

    name: str
    kind: AcceleratorKind
    memory_gb: float
    """Of one device."""
    limits: tuple[DeviceLimit, ...] = ()


class Family(Enum):
    """Replicas of one job are all of one family; a TPU machine goes with either."""

    COMPUTE_ENGINE = "COMPUTE_ENGINE"
    LEGACY = "LEGACY"
    TPU = "TPU"


@dataclass(frozen=True)
class MachineType:
    """One machine type.

    ``accelerators``: which may be attached, and how many of each are valid. ``included``: the
    accelerator, and how many of it, that the type brings along without being asked.
    """

    name: str
    family: Family
    vcpus: int
    memory_gb: float
    accelerators: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    included: tuple[str, int] | None = None
    like: str | None = None
    """The Compute Engine type that a legacy one stands for."""
    egress_gbps: float | None = None


@dataclass(frozen=True)
class Zone:
    name: str
    accelerators: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Region:
    name: str
    zones: tuple[Zone, ...] = ()

    @property
    def accelerators(self) -> frozenset[str]:
        """Those that any of its zones has."""
        return frozenset(name for zone in self.zones for name in zone.accelerators)


@dataclass(frozen=True)
class ScaleTier:
    """A predefined cluster of ml v1."""

    master: MachineSpec
    worker: MachineSpec | None = None
    worker_count: int = 0
    parameter_server: MachineSpec | None = None
    parameter_server_count: int = 0


@dataclass(frozen=True)
class Catalogue:
    """Everything by its name."""

    machine_types: Mapping[str, MachineType]
    accelerators: Mapping[str, Accelerator]
    regions: Mapping[str, Region]
    scale_tiers: Mapping[str, ScaleTier]
    runtimes: Runtimes
    own: frozenset[str] = frozenset()
    """Names that Google's services don't know: those of an operator's file."""
