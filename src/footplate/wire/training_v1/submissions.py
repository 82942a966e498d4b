"""A job of ml v1 as the service sees it."""

from __future__ import annotations

import re
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
from footplate.domain.names import TrainingJobName
from footplate.domain.submission import Submission
from footplate.domain.support import require_supported
from footplate.wire.durations import seconds
from footplate.wire.json_model import refuse
from footplate.wire.json_text import JsonObject, format_object
from footplate.wire.training_v1.models import Job, ReplicaConfig, TrainingInput
from footplate.wire.training_v1.models import Scheduling as WireScheduling
from footplate.wire.training_v1.roles import machines
from footplate.wire.training_v1.rules import check_job

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.jobs import MachineSpec
    from footplate.wire.training_v1.roles import Role

CHIEF_SINCE = (2, 1)
"""The first runtime version whose TF_CONFIG says ``chief`` where older ones say ``master``."""


def read_submission(body: JsonObject, project: str) -> Submission:
    """The job that ``projects.jobs.create`` asks for.

    Raises:
        InvalidArgument: all that the schema, or else the rules, don't allow.
        Unimplemented: this version can't run it yet.
    """
    job = Job.decode(body, strict=True)
    refuse(tuple(check_job(job)))
    training = job.training_input or TrainingInput()
    name = TrainingJobName(project, job.job_id or "")
    request = job.encode()
    request.pop("labels", None)
    spec = training_spec(training, name)
    require_supported(spec, tuning=training.hyperparameters is not None)
    return Submission(
        name=name,
        display_name=name.job_id,
        spec=spec,
        request=format_object(request),
        labels=tuple((job.labels or {}).items()),
        warnings=tuple(_warnings(training)),
    )


def training_spec(training: TrainingInput, name: TrainingJobName) -> JobSpec:
    """What a training input that obeys the rules means."""
    region = training.region or ""
    job_dir = training.job_dir or None
    return JobSpec(
        region=region,
        pools=tuple(_pools(training)),
        scheduling=_scheduling(training.scheduling or WireScheduling()),
        job_dir=job_dir,
        directories=(Directory(None, job_dir, "trainingInput.jobDir"),) if job_dir else (),
        environment=(
            ("CLOUD_ML_JOB_ID", name.job_id),
            ("CLOUD_ML_PROJECT_ID", name.project),
            ("CLOUD_ML_REGION", region),
        ),
        cluster_variables=_cluster_variables(training),
        chief_role=_chief_role(training),
        cluster_job=format_object(training.encode()),
        service_account=training.service_account or None,
        network=training.network or None,
        web_access=bool(training.enable_web_access),
    )


def _pools(training: TrainingInput) -> Iterator[WorkerPool]:
    for role, machine, count in machines(training):
        yield _pool(role, machine, count, training)


def _pool(role: Role, machine: MachineSpec, count: int, training: TrainingInput) -> WorkerPool:
    program = _program(role.config, training)
    in_image = isinstance(program, ContainerProgram)
    disk = role.config.disk_config
    return WorkerPool(
        cluster_role=role.cluster_role,
        replica_prefix=role.replica_prefix,
        machine=machine,
        replica_count=count,
        program=program,
        disk=DiskSpec(
            (disk and disk.boot_disk_type) or DiskSpec.boot_disk_type,
            (disk and disk.boot_disk_size_gb) or DiskSpec.boot_disk_size_gb,
        ),
        field=f"trainingInput.{role.field}Config" if in_image else "trainingInput",
    )


def _program(config: ReplicaConfig, training: TrainingInput) -> Program:
    """An empty command or list of arguments is none: proto3 can't tell them apart."""
    image = config.image_uri or _master_image(training)
    if image:
        args = training.args or config.container_args
        command = config.container_command
        return ContainerProgram(
            image, tuple(command) if command else None, tuple(args) if args else None
        )
    return PythonProgram(
        runtime=f"version:{training.runtime_version or ''}/{training.python_version or ''}",
        package_uris=tuple(training.package_uris or ()),
        module=training.python_module or "",
        args=tuple(training.args or ()),
    )


def _master_image(training: TrainingInput) -> str | None:
    return (training.master_config and training.master_config.image_uri) or None


def _scheduling(given: WireScheduling) -> Scheduling:
    running, waiting = given.max_running_time, given.max_wait_time
    return Scheduling(
        max_running_time_s=seconds(running) if running else DEFAULT_RUNNING_TIME_S,
        max_wait_time_s=seconds(waiting) if waiting else None,
        priority=given.priority or 0,
    )


def _cluster_variables(training: TrainingInput) -> frozenset[ClusterVariable]:
    """Custom containers get both."""
    if _master_image(training):
        return frozenset(ClusterVariable)
    return frozenset({ClusterVariable.TF_CONFIG})


def _chief_role(training: TrainingInput) -> str:
    if _master_image(training):
        return "chief" if training.use_chief_in_tf_config else "master"
    version = re.match(r"([0-9]+)\.([0-9]+)", training.runtime_version or "")
    if version is None:
        return "chief"
    return "chief" if (int(version[1]), int(version[2])) >= CHIEF_SINCE else "master"


_WITHOUT_EFFECT = ("service_account", "network", "encryption_config", "enable_web_access")


def _warnings(training: TrainingInput) -> Iterator[str]:
    """Where the job runs here, and would go differently in Google's service."""
    if not _master_image(training) and not training.runtime_version:
        yield (
            "trainingInput.runtimeVersion isn't given, so the newest runtime is used; "
            "Google's service wants a runtimeVersion and a pythonVersion"
        )
    if training.job_dir and not training.job_dir.startswith("gs://"):
        yield "trainingInput.jobDir is a path of this machine; Google's service takes only gs://"
    for name in _WITHOUT_EFFECT:
        if getattr(training, name):
            alias = TrainingInput.model_fields[name].alias
            yield f"trainingInput.{alias} is accepted and has no effect here"
