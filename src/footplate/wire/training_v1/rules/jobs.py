"""Rules for a job as a whole: directory, limits, accounts, and the replica config of each role."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from footplate.domain.catalogue import Catalogue, Family, MachineType
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.formatting import listed
from footplate.domain.machines import check_machine, check_machines, check_place
from footplate.domain.names import check_training_job_id
from footplate.wire.durations import check_limit
from footplate.wire.json_model import ParseResult
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import (
    ACCOUNT,
    KEY,
    check_disk,
    check_image,
    check_labels,
    check_words,
)
from footplate.wire.training_v1.enums import AcceleratorType, ScaleTier
from footplate.wire.training_v1.models import Job, Scheduling, TrainingInput
from footplate.wire.training_v1.prebuilt_images import master_image
from footplate.wire.training_v1.roles import MAX_REPLICAS, Role, roles, staffed, tier_of
from footplate.wire.training_v1.rules.algorithms import check_algorithm
from footplate.wire.training_v1.rules.programs import check_program
from footplate.wire.training_v1.rules.searches import check_search
from footplate.wire.trial_regions_label import check_trial_regions
from footplate.wire.uris import check_directory

# Rules for scale tiers, roles, machines and the region.

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


_DISK_TYPES = ("pd-ssd", "pd-standard")
_VERSION = re.compile(r"[0-9]+\.[0-9]+(\.[0-9]+)?")
_MASTER_IMAGE = "trainingInput.masterConfig.imageUri"


def check_configs(
    training: TrainingInput, catalogue: Catalogue, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    for role in roles(training):
        image_field = f"{role.config_field}.imageUri"
        unknown_image = clouded(image_field) or clouded(_MASTER_IMAGE)
        image = role.config.image_uri or master_image(training)
        yield from check_image(role.config.image_uri, image_field)
        if role.config.image_uri and not master_image(training) and not clouded(_MASTER_IMAGE):
            said = "given without masterConfig.imageUri: all roles must be containers"
            yield Violation(image_field, f"{describe(role.config.image_uri)} {said}, or none")
        yield from _check_start(role, training, in_image=bool(image) or unknown_image)
        if role.config.tpu_tf_version:
            in_image = bool(image) or unknown_image
            yield from _check_tpu_version(role, training, catalogue, in_image=in_image)
        if role.config.disk_config is not None:
            disk, at = role.config.disk_config, f"{role.config_field}.diskConfig"
            yield from check_disk(disk.boot_disk_type, disk.boot_disk_size_gb, _DISK_TYPES, at)


def _check_start(role: Role, training: TrainingInput, *, in_image: bool) -> Iterator[Violation]:
    """Yields faults of Docker's command and arguments, which replace the job's ``args``."""
    for name, given in (
        ("containerCommand", role.config.container_command),
        ("containerArgs", role.config.container_args),
    ):
        field = f"{role.config_field}.{name}"
        wrong = [] if in_image else ["given without imageUri, the image to start"]
        if training.args:
            wrong.append("given together with trainingInput.args; allowed: one of the two")
        if given and wrong:
            yield Violation(field, f"{describe(given)} {', and '.join(wrong)}")
        else:
            yield from check_words(given, field)


def _check_tpu_version(
    role: Role, training: TrainingInput, catalogue: Catalogue, *, in_image: bool
) -> Iterator[Violation]:
    """Yields faults of ``tpuTfVersion``, which only TPU workers of custom containers may have."""
    version, field = role.config.tpu_tf_version or "", f"{role.config_field}.tpuTfVersion"
    kind = catalogue.machine_types.get(role.machine_type)
    with_tpu = kind is not None and kind.family is Family.TPU
    if tier_of(training) is ScaleTier.BASIC_TPU:
        with_tpu = role.name in ("master", "worker")
    if not (with_tpu and in_image):
        said = "allowed only for TPU workers (cloud_tpu) that run a container image"
        yield Violation(field, f"{describe(version)} given; {said}")
    elif not _VERSION.fullmatch(version):
        yield Violation(field, f"{describe(version)} given; allowed: a version, such as 2.11")


MIN_WAIT_TIME_S = 1800
MAX_PRIORITY = 1000
_NETWORK = re.compile(r"projects/[^/\s]+/global/networks/[^/\s]+")
_AT = "trainingInput"


def check_surroundings(training: TrainingInput) -> Iterator[Violation]:
    if training.job_dir:
        yield from check_directory(training.job_dir, f"{_AT}.jobDir")
    if training.scheduling:
        yield from _check_scheduling(training.scheduling)
    if training.encryption_config:
        key = training.encryption_config.kms_key_name
        yield from KEY.check(key, f"{_AT}.encryptionConfig.kmsKeyName")
    yield from ACCOUNT.check(training.service_account, f"{_AT}.serviceAccount")
    if training.network and not _NETWORK.fullmatch(training.network):
        allowed = "projects/PROJECT_NUMBER/global/networks/NETWORK"
        given = describe(training.network)
        yield Violation(f"{_AT}.network", f"{given} given; allowed: {allowed}")


def _check_scheduling(scheduling: Scheduling) -> Iterator[Violation]:
    at = f"{_AT}.scheduling"
    if scheduling.max_running_time is not None:
        yield from check_limit(scheduling.max_running_time, f"{at}.maxRunningTime")
    if scheduling.max_wait_time is not None:
        yield from check_limit(scheduling.max_wait_time, f"{at}.maxWaitTime", MIN_WAIT_TIME_S)
    if scheduling.priority is not None and not 0 <= scheduling.priority <= MAX_PRIORITY:
        said = f"{scheduling.priority} given; allowed: 0 to {MAX_PRIORITY}"
        yield Violation(f"{at}.priority", said)


def check_job(understood: ParseResult[Job], catalogue: Catalogue) -> Iterator[Violation]:
    """Yields all violations of the rules by the parts of a job that could be parsed."""
    job = understood.message
    try:
        check_training_job_id(job.job_id or "")
    except InvalidArgument as error:
        yield from error.violations
    yield from check_labels(job.labels or {})
    if job.prediction_input is not None:
        yield Violation(
            "predictionInput", "Footplate runs no batch predictions; allowed: trainingInput"
        )
    training = job.training_input
    if training is None:
        yield Violation("trainingInput", "required: what the job trains")
        return
    yield from check_cluster(training, catalogue, understood.clouds)
    yield from check_configs(training, catalogue, understood.clouds)
    yield from check_program(training, catalogue, understood.clouds)
    yield from check_algorithm(training, catalogue, understood.clouds)
    yield from check_surroundings(training)
    if training.hyperparameters is not None:
        yield from check_search(training.hyperparameters, job, understood.clouds)
        yield from check_trial_regions(job.labels, catalogue)
