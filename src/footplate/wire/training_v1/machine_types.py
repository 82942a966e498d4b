"""The machine types that ml v1 knows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.wire.training_v1.enums import AcceleratorType

if TYPE_CHECKING:
    from footplate.domain.catalogue import Catalogue, MachineType

_TPU_OF_VERTEX = "cloud-tpu"


def known_here(catalogue: Catalogue) -> Catalogue:
    """The catalogue without the machine types that only Vertex AI has."""
    kinds = catalogue.machine_types
    known = {name: kind for name, kind in kinds.items() if not of_vertex(kind, catalogue)}
    return replace(catalogue, machine_types=known)


def of_vertex(kind: MachineType, catalogue: Catalogue) -> bool:
    """Whether it is made for accelerators that ml v1 has no names for, or is its name for TPUs.

    What an operator has added goes with both.
    """
    if kind.name in catalogue.own:
        return False
    accelerators = {*kind.accelerators, *([kind.included[0]] if kind.included else ())}
    known = catalogue.own.union(AcceleratorType.__members__)
    return kind.name == _TPU_OF_VERTEX or (bool(accelerators) and accelerators.isdisjoint(known))
