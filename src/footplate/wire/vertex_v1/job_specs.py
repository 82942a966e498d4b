"""Converts job specs, including invalid ones as far as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from footplate.domain import reduction
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
from footplate.domain.submission import Location
from footplate.wire.durations import seconds
from footplate.wire.json_text import format_object
from footplate.wire.vertex_v1 import models
from footplate.wire.vertex_v1.enums import Strategy
from footplate.wire.vertex_v1.machines import machine_of
from footplate.wire.vertex_v1.rules.job_specs import MAX_POOLS, MAX_REPLICAS

DEFAULT_FLEX_WAIT_S = 86_400.0
"""How long a FLEX_START job waits unless it says so."""


def job_spec(given: models.CustomJobSpec, location: Location, at: str = "jobSpec") -> JobSpec:
    """Converts a job spec; ``at`` is its path in the request.

    The callers refuse a spec without worker pools, or make no job of it.
    """
    pools = tuple(_pools(given.worker_pool_specs or [], f"{at}.workerPoolSpecs"))
    return JobSpec(
        region=location.location,
        pools=pools,
        scheduling=_scheduling(given.scheduling or models.Scheduling()),
        directories=_directories(given.base_output_directory, f"{at}.baseOutputDirectory"),
        environment=(
            ("CLOUD_ML_PROJECT_ID", location.project),
            ("CLOUD_ML_REGION", location.location),
            *_experiment(given),
        ),
        cluster_variables=_cluster_variables(pools),
        cluster_job=format_object(given.encode()),
        service_account=given.service_account or None,
        network=given.network or None,
        web_access=bool(given.enable_web_access),
        tensorboard=given.tensorboard or None,
        persistent_resource=given.persistent_resource_id or None,
    )


def _experiment(given: models.CustomJobSpec) -> Iterator[tuple[str, str]]:
    """Yields variables for the Vertex SDK, which logs to this experiment by default."""
    if given.experiment:
        yield "AIP_EXPERIMENT_NAME", given.experiment
        if given.experiment_run:
            yield "AIP_EXPERIMENT_RUN_NAME", given.experiment_run


def _pools(given: Sequence[models.WorkerPoolSpec], at: str) -> Iterator[WorkerPool]:
    """Yields the pools in use; places in the list decide roles, so unused ones count."""
    for index, pool in enumerate(given[:MAX_POOLS]):
        if index == 0 or not pool.unused:
            yield _pool(index, pool, f"{at}[{index}]")


def _pool(index: int, pool: models.WorkerPoolSpec, at: str) -> WorkerPool:
    spec = pool.container_spec or pool.python_package_spec
    kind = "containerSpec" if pool.container_spec else "pythonPackageSpec"
    disk = pool.disk_spec or models.DiskSpec()
    count = pool.replica_count or 1
    return WorkerPool(
        cluster_role=f"workerpool{index}",
        replica_prefix=f"workerpool{index}",
        machine=machine_of(pool.machine_spec),
        replica_count=count if 1 <= count <= MAX_REPLICAS else 1,
        program=_program(pool, index),
        environment=tuple((v.name or "", v.value or "") for v in (spec and spec.env) or ()),
        disk=DiskSpec(
            disk.boot_disk_type or DiskSpec.boot_disk_type,
            disk.boot_disk_size_gb or DiskSpec.boot_disk_size_gb,
        ),
        field=f"{at}.{kind}",
    )


def _program(pool: models.WorkerPoolSpec, index: int) -> Program:
    """Returns the program of a pool; an empty command or list counts as none, as in proto3."""
    if pool.container_spec:
        container = pool.container_spec
        image = container.image_uri or ""
        if index == reduction.POOL and reduction.is_image(image):
            return reduction.program(image)
        return ContainerProgram(
            image,
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
    """Returns a job's limits; only FLEX_START has a waiting limit, and 0s means none."""
    max_wait_time_s = None
    if given.strategy is Strategy.FLEX_START:
        asked = given.max_wait_duration
        max_wait_time_s = (seconds(asked) if asked else DEFAULT_FLEX_WAIT_S) or None
    never = bool(given.disable_retries)
    return Scheduling(
        max_running_time_s=seconds(given.timeout) if given.timeout else DEFAULT_RUNNING_TIME_S,
        max_wait_time_s=max_wait_time_s,
        max_restarts=0 if never else Scheduling.max_restarts,
        max_retries=0 if never else Scheduling.max_retries,
        restarts_together=bool(given.restart_job_on_worker_restart),
    )


def _directories(base: models.GcsDestination | None, at: str) -> tuple[Directory, ...]:
    if base is None or not base.output_uri_prefix:
        return ()
    prefix, field = base.output_uri_prefix.rstrip("/"), f"{at}.outputUriPrefix"
    return (
        Directory("AIP_MODEL_DIR", f"{prefix}/model/", field, "model/"),
        Directory("AIP_CHECKPOINT_DIR", f"{prefix}/checkpoints/", field, "checkpoints/"),
        Directory("AIP_TENSORBOARD_LOG_DIR", f"{prefix}/logs/", field, "logs/"),
    )


def _cluster_variables(pools: tuple[WorkerPool, ...]) -> frozenset[ClusterVariable]:
    """Returns the cluster variables that the program gets.

    TF_CONFIG is only for jobs with several replicas, because it makes TensorFlow train distributed.
    """
    if sum(pool.replica_count for pool in pools) > 1:
        return frozenset(ClusterVariable)
    return frozenset({ClusterVariable.CLUSTER_SPEC})
