"""What machines a job may ask for, and in which zone it finds them together."""

from footplate.domain.machines.checks import MachineRequest, check_machine, check_machines
from footplate.domain.machines.places import accelerators_of, check_place, zones_for

__all__ = [
    "MachineRequest",
    "accelerators_of",
    "check_machine",
    "check_machines",
    "check_place",
    "zones_for",
]
