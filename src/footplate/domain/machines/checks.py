"""Checks the machines that a job requests.

Source of the rules: the service's pages on machine types and on GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from footplate.domain.catalogue import Family
from footplate.domain.errors import Violation
from footplate.domain.formatting import nearest, quoted
from footplate.domain.machines.attachments import check_accelerators
from footplate.domain.machines.placement import check_place

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.catalogue import Catalogue, MachineType
    from footplate.domain.jobs import MachineSpec


@dataclass(frozen=True)
class MachineRequest:
    """The machine of each replica of one pool, and where the request says so, for errors."""

    machine: MachineSpec
    type_field: str
    accelerator_type_field: str
    accelerator_count_field: str
    brought_by: str = ""
    """What the request says instead of naming the machine: a scale tier."""


def check_machines(
    requests: Sequence[MachineRequest], region: str, region_field: str, catalogue: Catalogue
) -> Iterator[Violation]:
    """Everything that the catalogue doesn't allow of a job's machines in a region.

    One for each field, which says all that is wrong with it. A request without a machine type is
    left to its face, but for the accelerators that it names.
    """
    alone = (violation for request in requests for violation in check_machine(request, catalogue))
    together = _check_families(requests, catalogue)
    placed = check_place(requests, region, region_field, catalogue)
    told: dict[str, list[str]] = {}
    for violation in chain(alone, together, placed):
        said = told.setdefault(violation.field, [])
        if violation.description not in said:
            said.append(violation.description)
    for field, said in told.items():
        yield Violation(field, "; and ".join(said))


def check_machine(request: MachineRequest, catalogue: Catalogue) -> Iterator[Violation]:
    """What isn't allowed of a machine wherever it stands."""
    name = request.machine.machine_type
    kind = catalogue.machine_types.get(name)
    if name and kind is None:
        known = nearest(name, catalogue.machine_types, "machine types")
        text = f"{quoted(name)} given, which is no machine type of the catalogue; {known}"
        yield Violation(request.type_field, text)
    yield from check_accelerators(request, kind, catalogue)


def _check_families(
    requests: Sequence[MachineRequest], catalogue: Catalogue
) -> Iterator[Violation]:
    """All replicas are of the family of the first one that isn't a TPU."""
    first: tuple[MachineRequest, MachineType] | None = None
    for request in requests:
        kind = catalogue.machine_types.get(request.machine.machine_type)
        if kind is None or kind.family is Family.TPU:
            continue
        if first is None:
            first = request, kind
        elif kind.family is not first[1].family:
            yield Violation(request.type_field, _mixed(kind, *first))


def _mixed(kind: MachineType, first: MachineRequest, other: MachineType) -> str:
    names = {Family.LEGACY: "a legacy machine type", Family.COMPUTE_ENGINE: "a Compute Engine one"}
    legacy = kind if kind.family is Family.LEGACY else other
    return (
        f"{quoted(kind.name)} given, {names.get(kind.family)}, and {first.type_field} "
        f"{quoted(other.name)} is {names.get(other.family)}; allowed: one kind for all replicas of "
        f"a job{_instead(legacy)}"
    )


def _instead(legacy: MachineType) -> str:
    if legacy.like is None:
        return ""
    added = " with {1} {0}".format(*legacy.included) if legacy.included else ""
    return f"; {legacy.name} is like {legacy.like}{added}"
