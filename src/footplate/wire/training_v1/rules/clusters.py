"""Rules for scale tiers, roles, machines and the region."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.catalogue import Family
from footplate.domain.errors import Violation
from footplate.domain.formatting import listed
from footplate.domain.machines import check_machine, check_machines, check_place
from footplate.wire.json_text import describe
from footplate.wire.training_v1.enums import AcceleratorType, ScaleTier
from footplate.wire.training_v1.roles import MAX_REPLICAS, roles, staffed, tier_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.catalogue import Catalogue, MachineType
    from footplate.wire.training_v1.models import TrainingInput
    from footplate.wire.training_v1.roles import Role


_TPU_OF_VERTEX = "cloud-tpu"


def known_here(catalogue: Catalogue) -> Catalogue:
    """Returns the catalogue without the machine types that only Vertex AI has."""
    kinds = catalogue.machine_types
    known = {name: kind for name, kind in kinds.items() if not of_vertex(kind, catalogue)}
    return replace(catalogue, machine_types=known)


def of_vertex(kind: MachineType, catalogue: Catalogue) -> bool:
    """Returns whether a machine type exists only on Vertex AI, so that ml v1 has no name for it.

    Such a type is made for accelerators that ml v1 doesn't know, or is Vertex's name for TPUs.
    Types that an operator has added belong to both APIs.
    """
    if kind.name in catalogue.own:
        return False
    accelerators = {*kind.accelerators, *([kind.included[0]] if kind.included else ())}
    known = catalogue.own.union(AcceleratorType.__members__)
    return kind.name == _TPU_OF_VERTEX or (bool(accelerators) and accelerators.isdisjoint(known))


_REGION = "trainingInput.region"
_TIER = "trainingInput.scaleTier"


def check_cluster(
    training: TrainingInput, catalogue: Catalogue, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    """Yields faults of a cluster; if its tier is wrong, only those of region and machines."""
    region = training.region or ""
    if clouded(_TIER):
        yield from _check_named(training, catalogue)
        return
    if tier_of(training) is ScaleTier.CUSTOM:
        yield from _check_custom(training, catalogue, clouded)
        return
    yield from _check_predefined(training, catalogue)
    requests = [each.request for each in staffed(training, catalogue)]
    yield from check_place(requests, region, _REGION, catalogue)


def _check_named(training: TrainingInput, catalogue: Catalogue) -> Iterator[Violation]:
    """Yields faults of each role that are independent of the scale tier."""
    known = known_here(catalogue)
    for role in roles(training):
        yield from _check_accelerator_name(role, catalogue)
        yield from _check_home(role, catalogue)
    requests = [role.custom_request for role in roles(training)]
    yield from check_machines(requests, training.region or "", _REGION, known)


def _check_custom(
    training: TrainingInput, catalogue: Catalogue, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    """Yields faults of a CUSTOM cluster: a count needs its type; a type may have no count."""
    known = known_here(catalogue)
    for role in roles(training):
        yield from _check_accelerator_name(role, catalogue)
        yield from _check_home(role, catalogue)
        if not 0 <= role.count <= MAX_REPLICAS:
            said = f"{role.count} given; allowed: 0 to {MAX_REPLICAS}"
            yield Violation(role.count_field, said)
        if role.count > 0 and not role.machine_type:
            yield Violation(role.type_field, _missing_type(role))
        elif not role.count:
            yield from check_machine(role.custom_request, known)
    present = (each for each in staffed(training, catalogue))
    requests = [each.request for each in present if not clouded(each.role.type_field)]
    yield from check_machines(requests, training.region or "", _REGION, known)


def _check_accelerator_name(role: Role, catalogue: Catalogue) -> Iterator[Violation]:
    """Yields faults of accelerator names, which must be the API's or the operator's."""
    name = role.custom_request.machine.accelerator_type
    own = sorted(catalogue.own & catalogue.accelerators.keys())
    if name is not None and name not in AcceleratorType.__members__ and name not in own:
        said = f"allowed: {', '.join([*AcceleratorType.__members__, *own])}"
        field = role.custom_request.accelerator_type_field
        yield Violation(field, f"{describe(name)} given; {said}")


def _check_home(role: Role, catalogue: Catalogue) -> Iterator[Violation]:
    """Yields faults of machine types that only the newer API, Vertex AI, has."""
    kind = catalogue.machine_types.get(role.machine_type)
    if kind is not None and of_vertex(kind, catalogue):
        instead = "cloud_tpu" if kind.family is Family.TPU else "n1-standard-8 or a2-highgpu-1g"
        given = f"{describe(kind.name)} given, a machine type of Vertex AI only"
        rule = f"allowed: machine types of AI Platform Training (ml v1), such as {instead}"
        yield Violation(role.type_field, f"{given}; {rule}")


def _missing_type(role: Role) -> str:
    if role.primary:
        return "required with scaleTier CUSTOM: a machine type, such as n1-standard-4"
    return (
        f"required, because {role.name}Count is {role.count}: a machine type, such as n1-standard-4"
    )


def _check_predefined(training: TrainingInput, catalogue: Catalogue) -> Iterator[Violation]:
    """Yields violations for types, counts and accelerators: only the CUSTOM tier has them."""
    tier = tier_of(training).name
    if tier not in catalogue.scale_tiers:
        known = listed([*catalogue.scale_tiers, ScaleTier.CUSTOM.name])
        yield Violation(
            _TIER, f"{tier} given, a scale tier that the catalogue doesn't have; allowed: {known}"
        )
    only = f"allowed only with scaleTier CUSTOM, but scaleTier is {tier}"
    for role in roles(training):
        if role.machine_type:
            yield Violation(role.type_field, f"{describe(role.machine_type)} given; {only}")
        if role.count and not role.primary:
            yield Violation(role.count_field, f"{role.count} given; {only}")
        accelerators = role.config.accelerator_config
        if accelerators is not None and accelerators.encode():
            said = f"{describe(accelerators.encode())} given; {only}"
            yield Violation(f"{role.config_field}.acceleratorConfig", said)
