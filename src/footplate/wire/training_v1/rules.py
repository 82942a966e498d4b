"""What a training job of ml v1 must obey beyond its schema.

Source: the service's API reference for Job and TrainingInput.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.machines import check_machine
from footplate.domain.names import check_location, check_training_job_id
from footplate.wire.durations import seconds
from footplate.wire.json_text import describe
from footplate.wire.labels import check_labels
from footplate.wire.training_v1.enums import ScaleTier
from footplate.wire.training_v1.roles import roles, tier_of
from footplate.wire.uris import check_directory, check_module, check_packages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.wire.training_v1.models import Job, ReplicaConfig, Scheduling, TrainingInput
    from footplate.wire.training_v1.roles import Role

MAX_REPLICAS = 10_000
"""Of one role; more is a slip of the hand, and would be written out replica by replica."""
MIN_WAIT_TIME_S = 1800.0
MAX_PRIORITY = 1000
_AT = "trainingInput"
_VERSION = re.compile(r"[0-9]+\.[0-9]+")
_DISK_TYPES = ("pd-ssd", "pd-standard")


def check_job(job: Job) -> Iterator[Violation]:
    try:
        check_training_job_id(job.job_id or "")
    except InvalidArgument as error:
        yield from error.violations
    yield from check_labels(job.labels or {})
    if job.prediction_input is not None:
        yield Violation("predictionInput", "batch prediction isn't served; allowed: trainingInput")
    if job.training_input is None:
        yield Violation("trainingInput", "required: what is to be trained")
        return
    yield from _check_training(job.training_input)


def _check_training(training: TrainingInput) -> Iterator[Violation]:
    try:
        check_location(training.region or "")
    except InvalidArgument as error:
        yield Violation(f"{_AT}.region", error.violations[0].description)
    for role in roles(training):
        yield from _check_role(role, training)
    yield from _check_program(training)
    if training.job_dir:
        yield from check_directory(training.job_dir, f"{_AT}.jobDir")
    if training.scheduling:
        yield from _check_scheduling(training.scheduling)


def _check_role(role: Role, training: TrainingInput) -> Iterator[Violation]:
    """A type and a count belong together, and both to the CUSTOM tier."""
    type_field, config_field = f"{_AT}.{role.field}Type", f"{_AT}.{role.field}Config"
    accelerator_field = f"{config_field}.acceleratorConfig"
    if tier_of(training) is ScaleTier.CUSTOM:
        yield from _check_count(role)
        if role.count and not role.machine_type:
            yield Violation(type_field, "required with scaleTier CUSTOM: a machine type")
        elif role.machine_type:
            yield from check_machine(role.custom_machine(), type_field, accelerator_field)
    else:
        only = "only allowed with scaleTier CUSTOM"
        if role.machine_type:
            yield Violation(type_field, f"{describe(role.machine_type)} given; {only}")
        if role.count and role.field != "master":
            yield Violation(f"{_AT}.{role.field}Count", f"{role.count} given; {only}")
        if role.config.accelerator_config is not None:
            yield Violation(accelerator_field, only)
    yield from _check_config(role.config, config_field, training)


def _check_count(role: Role) -> Iterator[Violation]:
    if not 0 <= role.count <= MAX_REPLICAS:
        allowed = f"0 to {MAX_REPLICAS}"
        yield Violation(f"{_AT}.{role.field}Count", f"{role.count} given; allowed: {allowed}")


def _check_config(
    config: ReplicaConfig, field: str, training: TrainingInput
) -> Iterator[Violation]:
    image = config.image_uri or (training.master_config and training.master_config.image_uri)
    for name, given in (
        ("containerCommand", config.container_command),
        ("containerArgs", config.container_args),
    ):
        if given and not image:
            yield Violation(f"{field}.{name}", "given without imageUri, which it needs")
        if given and training.args:
            yield Violation(f"{field}.{name}", f"given beside {_AT}.args; allowed: one of them")
    if config.disk_config is None:
        return
    kind, size = config.disk_config.boot_disk_type, config.disk_config.boot_disk_size_gb
    if kind and kind not in _DISK_TYPES:
        allowed = ", ".join(_DISK_TYPES)
        at = f"{field}.diskConfig.bootDiskType"
        yield Violation(at, f"{describe(kind)} given; allowed: {allowed}")
    if size is not None and size < 0:
        yield Violation(f"{field}.diskConfig.bootDiskSizeGb", f"{size} given; allowed: 0 or more")


def _check_program(training: TrainingInput) -> Iterator[Violation]:
    """A runtime version and packages, or an image."""
    image = training.master_config and training.master_config.image_uri
    for name, version in (
        ("runtimeVersion", training.runtime_version),
        ("pythonVersion", training.python_version),
    ):
        if version and image:
            beside = "given beside masterConfig.imageUri; allowed: one of them"
            yield Violation(f"{_AT}.{name}", beside)
        elif version and not _VERSION.fullmatch(version):
            allowed = "a version, such as 2.21" if name == "runtimeVersion" else "such as 3.11"
            yield Violation(f"{_AT}.{name}", f"{describe(version)} given; allowed: {allowed}")
    if image:
        return
    yield from check_packages(training.package_uris, f"{_AT}.packageUris")
    yield from check_module(training.python_module, f"{_AT}.pythonModule")


def _check_scheduling(scheduling: Scheduling) -> Iterator[Violation]:
    at = f"{_AT}.scheduling"
    running, waiting = scheduling.max_running_time, scheduling.max_wait_time
    if running and seconds(running) <= 0:
        yield Violation(f"{at}.maxRunningTime", f"{running} given; allowed: more than 0s")
    if waiting and seconds(waiting) < MIN_WAIT_TIME_S:
        yield Violation(f"{at}.maxWaitTime", f"{waiting} given; allowed: at least 1800s")
    if scheduling.priority is not None and not 0 <= scheduling.priority <= MAX_PRIORITY:
        allowed = f"0 to {MAX_PRIORITY}"
        yield Violation(f"{at}.priority", f"{scheduling.priority} given; allowed: {allowed}")
