"""What machines a job may ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.jobs import MachineSpec

_MACHINE_TYPE = re.compile(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*")


def check_machine(
    machine: MachineSpec, type_field: str, accelerator_field: str
) -> Iterator[Violation]:
    """The form of a machine's description, and that its accelerators are both named and counted.

    Whether the machine type exists and takes the accelerators isn't looked at.
    """
    if not _MACHINE_TYPE.fullmatch(machine.machine_type):
        allowed = "a machine type, such as n1-standard-4"
        yield Violation(type_field, f"{machine.machine_type[:100]!r} given; allowed: {allowed}")
    named, count = machine.accelerator_type is not None, machine.accelerator_count
    if named and count < 1:
        yield Violation(accelerator_field, f"count {count} given; allowed: 1 or more")
    if not named and count:
        yield Violation(accelerator_field, f"count {count} given, but no accelerator type")
