"""Rules for a role's replica config: images, commands, disks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.catalogue import Family
from footplate.domain.errors import Violation
from footplate.wire.disks import check_disk
from footplate.wire.image_names import check_image
from footplate.wire.json_text import describe
from footplate.wire.training_v1.enums import ScaleTier
from footplate.wire.training_v1.prebuilt_images import master_image
from footplate.wire.training_v1.roles import roles, tier_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.catalogue import Catalogue
    from footplate.wire.training_v1.models import TrainingInput
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
            said = "given without masterConfig.imageUri, which it needs: all roles are containers"
            yield Violation(image_field, f"{describe(role.config.image_uri)} {said}, or none")
        yield from _check_start(role, training, in_image=bool(image) or unknown_image)
        if role.config.tpu_tf_version:
            in_image = bool(image) or unknown_image
            yield from _check_tpu_version(role, training, catalogue, in_image=in_image)
        if role.config.disk_config is not None:
            disk, at = role.config.disk_config, f"{role.config_field}.diskConfig"
            yield from check_disk(disk.boot_disk_type, disk.boot_disk_size_gb, _DISK_TYPES, at)


def _check_start(role: Role, training: TrainingInput, *, in_image: bool) -> Iterator[Violation]:
    """Docker's command and arguments, in place of the job's ``args``."""
    for name, given in (
        ("containerCommand", role.config.container_command),
        ("containerArgs", role.config.container_args),
    ):
        field = f"{role.config_field}.{name}"
        wrong = [] if in_image else ["given without imageUri, which it needs"]
        if training.args:
            wrong.append("given beside trainingInput.args; allowed: one of them")
        if given and wrong:
            yield Violation(field, f"{describe(given)} {', and '.join(wrong)}")


def _check_tpu_version(
    role: Role, training: TrainingInput, catalogue: Catalogue, *, in_image: bool
) -> Iterator[Violation]:
    """It is for the TPU workers of custom containers alone."""
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
