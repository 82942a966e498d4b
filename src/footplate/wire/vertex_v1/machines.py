"""Converts the machine of a pool."""

from __future__ import annotations

from footplate.domain.jobs import MachineSpec
from footplate.wire.vertex_v1 import models
from footplate.wire.vertex_v1.enums import AcceleratorType


def machine_of(given: models.MachineSpec | None) -> MachineSpec:
    given = given or models.MachineSpec()
    kind = given.accelerator_type or AcceleratorType.ACCELERATOR_TYPE_UNSPECIFIED
    named = kind is not AcceleratorType.ACCELERATOR_TYPE_UNSPECIFIED
    return MachineSpec(
        given.machine_type or "", kind.name if named else None, given.accelerator_count or 0
    )
