"""Rules for a job as a whole: directory, limits, accounts, and the replica config of each role."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.catalogue import Family
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import check_training_job_id
from footplate.wire.durations import check_limit
from footplate.wire.json_text import describe
from footplate.wire.shared_rules import (
    ACCOUNT,
    KEY,
    check_disk,
    check_image,
    check_labels,
    check_words,
)
from footplate.wire.training_v1.enums import ScaleTier
from footplate.wire.training_v1.prebuilt_images import master_image
from footplate.wire.training_v1.roles import roles, tier_of
from footplate.wire.training_v1.rules.algorithms import check_algorithm
from footplate.wire.training_v1.rules.clusters import check_cluster
from footplate.wire.training_v1.rules.programs import check_program
from footplate.wire.training_v1.rules.searches import check_search
from footplate.wire.trial_regions_label import check_trial_regions
from footplate.wire.uris import check_directory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.catalogue import Catalogue
    from footplate.wire.json_model import ParseResult
    from footplate.wire.training_v1.models import Job, Scheduling, TrainingInput
    from footplate.wire.training_v1.roles import Role


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
