"""Checks of a job's machines, and the zones that have them."""

from footplate.domain.machines.checks import MachineRequest, check_machine, check_machines
from footplate.domain.machines.placement import accelerators_of, check_place, zones_for

__all__ = [
    "MachineRequest",
    "accelerators_of",
    "check_machine",
    "check_machines",
    "check_place",
    "zones_for",
]
