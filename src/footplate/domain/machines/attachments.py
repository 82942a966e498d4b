"""Which accelerators a machine type takes, and how many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.catalogue import Family
from footplate.domain.errors import Violation
from footplate.domain.formatting import joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from footplate.domain.catalogue import Accelerator, Catalogue, DeviceLimit, MachineType
    from footplate.domain.machines import MachineRequest


def check_accelerators(
    request: MachineRequest, kind: MachineType | None, catalogue: Catalogue
) -> Iterator[Violation]:
    """``kind`` is the machine's type; None: it is unknown, and so is what it takes."""
    name, count = request.machine.accelerator_type, request.machine.accelerator_count
    if name is None and not count:
        return
    if kind is not None and kind.family is Family.LEGACY:
        field = request.accelerator_type_field if name else request.accelerator_count_field
        yield Violation(field, _legacy(kind))
    elif name is None:
        said = f"required beside a count of {count}{_takes(kind)}"
        yield Violation(request.accelerator_type_field, said)
    elif name not in catalogue.accelerators:
        said = f"{quoted(name)} given, which is no accelerator of the catalogue{_takes(kind)}"
        yield Violation(request.accelerator_type_field, said)
    elif kind is not None and name not in attachable(kind):
        said = _not_attachable(kind, catalogue.accelerators[name], catalogue)
        yield Violation(request.accelerator_type_field, said)
    else:
        yield from _check_count(request, kind, catalogue.accelerators[name])


def attachable(kind: MachineType) -> Mapping[str, tuple[int, ...]]:
    """The accelerators that may be named with a machine type, and their valid counts."""
    if kind.included is None or kind.family is Family.LEGACY:
        return kind.accelerators
    name, count = kind.included
    return {name: (count,)} | dict(kind.accelerators)


def _check_count(
    request: MachineRequest, kind: MachineType | None, accelerator: Accelerator
) -> Iterator[Violation]:
    count, field = request.machine.accelerator_count, request.accelerator_count_field
    valid = attachable(kind)[accelerator.name] if kind is not None else ()
    if kind is None:
        if count < 1:
            given = f"{count} given" if count else "required"
            yield Violation(field, f"{given}: how many {accelerator.name}, at least 1")
    elif not count:
        said = f"required beside {accelerator.name}: {_counts(kind, valid)}"
        yield Violation(field, said)
    elif count not in valid:
        reason = _reason(kind, accelerator, count, valid)
        said = f"{accelerator.name} x{count} on {kind.name}: {_counts(kind, valid, on='')}{reason}"
        yield Violation(field, said)


def _counts(kind: MachineType, valid: tuple[int, ...], on: str | None = None) -> str:
    numbers = ", ".join(str(number) for number in valid)
    on = f" on {kind.name}" if on is None else on
    return (
        f"valid counts{on} are {numbers}" if len(valid) > 1 else f"the valid count{on} is {numbers}"
    )


def _legacy(kind: MachineType) -> str:
    own = "{1} {0}, which it has already".format(*kind.included) if kind.included else "none"
    like = f", such as {kind.like}" if kind.like else ""
    return (
        f"{kind.name} is a legacy machine type, to which no accelerators can be attached "
        f"(it comes with {own}); allowed: a Compute Engine machine type that takes them{like}"
    )


def _takes(kind: MachineType | None) -> str:
    if kind is None:
        return ""
    allowed = attachable(kind)
    if not allowed:
        return f"; {kind.name} takes no accelerators"
    return f"; {kind.name} takes {listed([_with_counts(*entry) for entry in allowed.items()])}"


def _with_counts(name: str, counts: tuple[int, ...]) -> str:
    return f"{name} ({', '.join(str(count) for count in counts)})"


def _not_attachable(kind: MachineType, accelerator: Accelerator, catalogue: Catalogue) -> str:
    largest = max(accelerator.limits, key=lambda limit: limit.count, default=None)
    reason = ""
    if attachable(kind) and largest is not None and _exceeds(kind, largest):
        reason = f", since {_size(kind)} and {_serves(accelerator, largest)}"
    others = sorted(
        (
            other
            for other in catalogue.machine_types.values()
            if accelerator.name in attachable(other)
        ),
        key=lambda other: (
            abs(other.vcpus - kind.vcpus),
            abs(other.memory_gb - kind.memory_gb),
            other.name,
        ),
    )
    names = [other.name for other in others if other.family is not Family.LEGACY]
    into = f"; {accelerator.name} goes with {listed(names, 4)}" if names else ""
    return f"{accelerator.name} can't be attached to {kind.name}{reason}{_takes(kind)}{into}"


def _reason(kind: MachineType, accelerator: Accelerator, count: int, valid: tuple[int, ...]) -> str:
    """Why a machine needs more of them than were asked for, where the limits tell."""
    known = [limit for limit in accelerator.limits if limit.count <= count]
    nearest = max(known, key=lambda limit: limit.count, default=None)
    if nearest is None or count > min(valid) or not _exceeds(kind, nearest):
        return ""
    return f"; {_size(kind)}, {_serves(accelerator, nearest)}, so it needs at least {min(valid)}"


def _exceeds(kind: MachineType, limit: DeviceLimit) -> bool:
    return (limit.vcpus is not None and kind.vcpus > limit.vcpus) or (
        limit.memory_gb is not None and kind.memory_gb > limit.memory_gb
    )


def _size(kind: MachineType) -> str:
    return f"{kind.name} has {kind.vcpus} vCPU and {kind.memory_gb:g} GB"


def _serves(accelerator: Accelerator, limit: DeviceLimit) -> str:
    most = []
    if limit.vcpus is not None:
        most.append(f"{limit.vcpus} vCPU")
    if limit.memory_gb is not None:
        most.append(f"{limit.memory_gb:g} GB")
    serve = "serves" if limit.count == 1 else "serve"
    return f"{limit.count} {accelerator.name} {serve} at most {joined(most)}"
