"""What a custom job of aiplatform v1 must obey beyond its schema.

Source: the service's API reference for CustomJob, CustomJobSpec and WorkerPoolSpec.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.domain.machines import check_machine
from footplate.wire.durations import seconds
from footplate.wire.json_text import describe
from footplate.wire.labels import check_labels
from footplate.wire.uris import check_directory, check_module, check_packages
from footplate.wire.vertex_v1.machines import machine_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.wire.vertex_v1.models import (
        ContainerSpec,
        CustomJob,
        CustomJobSpec,
        DiskSpec,
        EnvVar,
        PythonPackageSpec,
        Scheduling,
        WorkerPoolSpec,
    )

MAX_DISPLAY_NAME = 128
MAX_POOLS = 4
MAX_REPLICAS = 10_000
"""Of one pool; more is a slip of the hand, and would be written out replica by replica."""
MAX_VARIABLES = 100
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DISK_TYPES = ("pd-ssd", "pd-standard", "hyperdisk-balanced")


def check_custom_job(job: CustomJob) -> Iterator[Violation]:
    if not job.display_name:
        yield Violation("displayName", f"required: 1 to {MAX_DISPLAY_NAME} characters")
    elif len(job.display_name) > MAX_DISPLAY_NAME:
        given = f"{len(job.display_name)} characters given"
        yield Violation("displayName", f"{given}; allowed: at most {MAX_DISPLAY_NAME}")
    yield from check_labels(job.labels or {})
    if job.job_spec is None:
        yield Violation("jobSpec", "required: what is to be run")
        return
    yield from _check_spec(job.job_spec)


def _check_spec(spec: CustomJobSpec) -> Iterator[Violation]:
    pools = spec.worker_pool_specs or []
    at = "jobSpec.workerPoolSpecs"
    if not pools:
        yield Violation(at, f"required: 1 to {MAX_POOLS} worker pools")
    if len(pools) > MAX_POOLS:
        yield Violation(at, f"{len(pools)} given; allowed: at most {MAX_POOLS}")
        return
    for index, pool in enumerate(pools):
        if index and pool.unused:
            continue
        yield from _check_pool(pool, f"{at}[{index}]", primary=index == 0)
    if spec.base_output_directory:
        field = "jobSpec.baseOutputDirectory.outputUriPrefix"
        yield from check_directory(spec.base_output_directory.output_uri_prefix or "", field)
    if spec.scheduling:
        yield from _check_scheduling(spec.scheduling)


def _check_pool(pool: WorkerPoolSpec, at: str, *, primary: bool) -> Iterator[Violation]:
    yield from _check_count(pool.replica_count, f"{at}.replicaCount", primary=primary)
    machine = f"{at}.machineSpec"
    if not machine_of(pool).machine_type:
        yield Violation(f"{machine}.machineType", "required: such as n1-standard-4")
    else:
        yield from check_machine(
            machine_of(pool), f"{machine}.machineType", f"{machine}.acceleratorCount"
        )
    if pool.disk_spec:
        yield from _check_disk(pool.disk_spec, f"{at}.diskSpec")
    if (pool.container_spec is None) == (pool.python_package_spec is None):
        given = "none" if pool.container_spec is None else "both"
        yield Violation(at, f"{given} given; allowed: one of containerSpec, pythonPackageSpec")
        return
    if pool.container_spec:
        yield from _check_container(pool.container_spec, f"{at}.containerSpec")
    if pool.python_package_spec:
        yield from _check_package(pool.python_package_spec, f"{at}.pythonPackageSpec")


def _check_count(count: int | None, field: str, *, primary: bool) -> Iterator[Violation]:
    """Of the primary pool there can be but one, so it needn't be said."""
    if primary:
        if count not in (None, 1):
            yield Violation(field, f"{count} given; allowed in the first pool: exactly 1")
    elif not count:
        allowed = "at least 1, or an empty object {} in place of a pool that isn't used"
        yield Violation(field, f"{'nothing' if count is None else count} given; allowed: {allowed}")
    elif not 1 <= count <= MAX_REPLICAS:
        yield Violation(field, f"{count} given; allowed: 1 to {MAX_REPLICAS}")


def _check_disk(disk: DiskSpec, at: str) -> Iterator[Violation]:
    kind, size = disk.boot_disk_type, disk.boot_disk_size_gb
    if kind and kind not in _DISK_TYPES:
        allowed = ", ".join(_DISK_TYPES)
        yield Violation(f"{at}.bootDiskType", f"{describe(kind)} given; allowed: {allowed}")
    if size is not None and size < 0:
        yield Violation(f"{at}.bootDiskSizeGb", f"{size} given; allowed: 0 or more")


def _check_container(container: ContainerSpec, at: str) -> Iterator[Violation]:
    if not container.image_uri:
        yield Violation(f"{at}.imageUri", "required: the URI of a container image")
    yield from _check_variables(container.env or (), f"{at}.env")


def _check_package(package: PythonPackageSpec, at: str) -> Iterator[Violation]:
    if not package.executor_image_uri:
        yield Violation(f"{at}.executorImageUri", "required: the URI of a prebuilt image")
    yield from check_packages(package.package_uris, f"{at}.packageUris")
    yield from check_module(package.python_module, f"{at}.pythonModule")
    yield from _check_variables(package.env or (), f"{at}.env")


def _check_variables(variables: Sequence[EnvVar], at: str) -> Iterator[Violation]:
    if len(variables) > MAX_VARIABLES:
        yield Violation(at, f"{len(variables)} given; allowed: at most {MAX_VARIABLES}")
        return
    for index, variable in enumerate(variables):
        if not _VARIABLE.fullmatch(variable.name or ""):
            allowed = "letters, digits and underscores, first no digit"
            given = describe(variable.name or "")
            yield Violation(f"{at}[{index}].name", f"{given} given; allowed: {allowed}")


def _check_scheduling(scheduling: Scheduling) -> Iterator[Violation]:
    at = "jobSpec.scheduling"
    if scheduling.timeout and seconds(scheduling.timeout) <= 0:
        yield Violation(f"{at}.timeout", f"{scheduling.timeout} given; allowed: more than 0s")
    waiting = scheduling.max_wait_duration
    if waiting and seconds(waiting) < 0:
        allowed = "0s (for ever) or more"
        yield Violation(f"{at}.maxWaitDuration", f"{waiting} given; allowed: {allowed}")
