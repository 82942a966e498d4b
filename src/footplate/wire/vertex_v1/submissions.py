"""A custom job of aiplatform v1 as the service sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.jobs import (
    DEFAULT_RUNNING_TIME_S,
    ClusterVariable,
    ContainerProgram,
    Directory,
    DiskSpec,
    JobSpec,
    Program,
    PythonProgram,
    Scheduling,
    WorkerPool,
)
from footplate.domain.submission import Submission
from footplate.domain.support import require_supported
from footplate.wire.durations import seconds
from footplate.wire.json_model import refuse, unknown_fields
from footplate.wire.json_text import format_object
from footplate.wire.vertex_v1 import models
from footplate.wire.vertex_v1.enums import Strategy
from footplate.wire.vertex_v1.machines import machine_of
from footplate.wire.vertex_v1.rules import check_custom_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.submission import Location
    from footplate.wire.json_text import JsonObject

DEFAULT_FLEX_WAIT_S = 86_400.0
"""How long a FLEX_START job waits unless it says so."""
MAX_WARNINGS = 20
_POOLS_AT = "jobSpec.workerPoolSpecs"


def read_submission(body: JsonObject, location: Location) -> Submission:
    """The job that ``customJobs.create`` asks for; unknown fields are kept and warned of.

    Raises:
        InvalidArgument: all that the schema, or else the rules, don't allow.
        Unimplemented: this version can't run it yet.
    """
    job = models.CustomJob.decode(body)
    refuse(tuple(check_custom_job(job)))
    given = job.job_spec or models.CustomJobSpec()
    request = job.encode()
    request.pop("labels", None)
    spec = custom_job_spec(given, location)
    require_supported(spec, tuning=False)
    return Submission(
        name=location,
        display_name=job.display_name or "",
        spec=spec,
        request=format_object(request),
        labels=tuple((job.labels or {}).items()),
        warnings=(*_unknown(body), *_warnings(given)),
    )


def custom_job_spec(given: models.CustomJobSpec, location: Location) -> JobSpec:
    """What a spec that obeys the rules means."""
    pools = tuple(_pools(given.worker_pool_specs or []))
    return JobSpec(
        region=location.location,
        pools=pools,
        scheduling=_scheduling(given.scheduling or models.Scheduling()),
        directories=_directories(given.base_output_directory),
        environment=(
            ("CLOUD_ML_PROJECT_ID", location.project),
            ("CLOUD_ML_REGION", location.location),
        ),
        cluster_variables=_cluster_variables(pools),
        cluster_job=format_object(given.encode()),
        service_account=given.service_account or None,
        network=given.network or None,
        web_access=bool(given.enable_web_access),
    )


def _pools(given: Sequence[models.WorkerPoolSpec]) -> Iterator[WorkerPool]:
    """A pool's role is its place in the list, so the places of unused ones count."""
    for index, pool in enumerate(given):
        if index == 0 or not pool.unused:
            yield _pool(index, pool)


def _pool(index: int, pool: models.WorkerPoolSpec) -> WorkerPool:
    spec = pool.container_spec or pool.python_package_spec
    kind = "containerSpec" if pool.container_spec else "pythonPackageSpec"
    disk = pool.disk_spec or models.DiskSpec()
    return WorkerPool(
        cluster_role=f"workerpool{index}",
        replica_prefix=f"workerpool{index}",
        machine=machine_of(pool),
        replica_count=pool.replica_count or 1,
        program=_program(pool),
        environment=tuple((v.name or "", v.value or "") for v in (spec and spec.env) or ()),
        disk=DiskSpec(
            disk.boot_disk_type or DiskSpec.boot_disk_type,
            disk.boot_disk_size_gb or DiskSpec.boot_disk_size_gb,
        ),
        field=f"{_POOLS_AT}[{index}].{kind}",
    )


def _program(pool: models.WorkerPoolSpec) -> Program:
    """An empty command or list of arguments is none: proto3 can't tell them apart."""
    if pool.container_spec:
        container = pool.container_spec
        return ContainerProgram(
            container.image_uri or "",
            tuple(container.command) if container.command else None,
            tuple(container.args) if container.args else None,
        )
    package = pool.python_package_spec or models.PythonPackageSpec()
    return PythonProgram(
        runtime=f"image:{package.executor_image_uri or ''}",
        package_uris=tuple(package.package_uris or ()),
        module=package.python_module or "",
        args=tuple(package.args or ()),
    )


def _scheduling(given: models.Scheduling) -> Scheduling:
    """Only FLEX_START jobs have a longest waiting time; 0s is for ever."""
    max_wait_time_s = None
    if given.strategy is Strategy.FLEX_START:
        asked = given.max_wait_duration
        max_wait_time_s = (seconds(asked) if asked else DEFAULT_FLEX_WAIT_S) or None
    return Scheduling(
        max_running_time_s=seconds(given.timeout) if given.timeout else DEFAULT_RUNNING_TIME_S,
        max_wait_time_s=max_wait_time_s,
        max_attempts=1 if given.disable_retries else Scheduling.max_attempts,
    )


def _directories(base: models.GcsDestination | None) -> tuple[Directory, ...]:
    if base is None or not base.output_uri_prefix:
        return ()
    prefix = base.output_uri_prefix.rstrip("/")
    field = "jobSpec.baseOutputDirectory.outputUriPrefix"
    return (
        Directory("AIP_MODEL_DIR", f"{prefix}/model/", field),
        Directory("AIP_CHECKPOINT_DIR", f"{prefix}/checkpoints/", field),
        Directory("AIP_TENSORBOARD_LOG_DIR", f"{prefix}/logs/", field),
    )


def _cluster_variables(pools: tuple[WorkerPool, ...]) -> frozenset[ClusterVariable]:
    """TF_CONFIG only where there is a cluster: TensorFlow goes distributed when it sees it."""
    if sum(pool.replica_count for pool in pools) > 1:
        return frozenset(ClusterVariable)
    return frozenset({ClusterVariable.CLUSTER_SPEC})


_WITHOUT_EFFECT = (
    "service_account",
    "network",
    "tensorboard",
    "enable_web_access",
    "reserved_ip_ranges",
    "persistent_resource_id",
    "enable_dashboard_access",
    "psc_interface_config",
)


def _unknown(body: JsonObject) -> tuple[str, ...]:
    """Newer clients send fields that aren't known here."""
    unknown = tuple(unknown_fields(models.CustomJob, body))
    told = [f"{v.field} is kept and has no effect: {v.description}" for v in unknown]
    if len(told) > MAX_WARNINGS:
        told[MAX_WARNINGS:] = [f"{len(told) - MAX_WARNINGS} more unknown fields have no effect"]
    return tuple(told)


def _warnings(spec: models.CustomJobSpec) -> Iterator[str]:
    """Where the job runs here, and would go differently in Google's service."""
    for name in _WITHOUT_EFFECT:
        if getattr(spec, name):
            alias = models.CustomJobSpec.model_fields[name].alias
            yield f"jobSpec.{alias} is accepted and has no effect here"
    for index, pool in enumerate(spec.worker_pool_specs or ()):
        if pool.nfs_mounts or pool.lustre_mounts:
            yield f"{_POOLS_AT}[{index}]: NFS and Lustre shares aren't mounted here"
    base = spec.base_output_directory
    if base and (base.output_uri_prefix or "").startswith("/"):
        yield (
            "jobSpec.baseOutputDirectory.outputUriPrefix is a path of this machine; "
            "Google's service takes only gs://"
        )
