"""Warnings about options that have no effect here.

What follows from its machines alone (evaluators, GPUs that stand idle, trials for each parameter)
isn't said here: that is the same for both faces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from footplate.wire.json_model import JsonModel, fields_without_effect, unknown_fields
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.shared_rules import describe_account
from footplate.wire.vertex_v1 import models
from footplate.wire.vertex_v1.enums import ReservationAffinityType, Strategy
from footplate.wire.vertex_v1.rules.job_specs import MAX_POOLS

MAX_WARNINGS = 20
"""Of unknown fields, and of variables of one pool."""
_WITHOUT_EFFECT = (
    "network",
    "reserved_ip_ranges",
    "enable_dashboard_access",
    "protected_artifact_location_id",
    "models",
    "psc_interface_config",
)
_DEPRECATED = (Strategy.ON_DEMAND, Strategy.LOW_COST)


def unknown_warnings(model: type[JsonModel], body: JsonObject) -> tuple[str, ...]:
    """Returns warnings about fields without effect, such as those of newer clients."""
    found = [(v.field, v.description) for v in unknown_fields(model, body)]
    found += fields_without_effect(model, body)
    warnings = [f"{field} is stored, but has no effect: {reason}" for field, reason in found]
    if len(warnings) > MAX_WARNINGS:
        warnings[MAX_WARNINGS:] = [f"{len(warnings) - MAX_WARNINGS} more fields have no effect"]
    return tuple(warnings)


def unknown_parity(model: type[JsonModel], body: JsonObject) -> Iterator[str]:
    if next(unknown_fields(model, body), None) is not None:
        yield (
            "this service stores unknown fields without effect; Google's service refuses unknown "
            "fields"
        )


def spec_warnings(
    job: models.CustomJob | models.HyperparameterTuningJob, spec: models.CustomJobSpec, at: str
) -> Iterator[str]:
    """Yields warnings about a job spec; ``at`` is its path in the request."""
    if job.encryption_spec and job.encryption_spec.kms_key_name:
        yield _no_effect("encryptionSpec")
    for name in _WITHOUT_EFFECT:
        if getattr(spec, name):
            yield _no_effect(f"{at}.{models.CustomJobSpec.model_fields[name].alias}")
    base = spec.base_output_directory
    if spec.tensorboard and not (base and base.output_uri_prefix):
        yield (
            f"{at}.tensorboard has no effect without baseOutputDirectory: Footplate looks for "
            "event files in the folder logs/ of that directory"
        )
    if spec.service_account:
        yield describe_account(f"{at}.serviceAccount")
    for index, pool in enumerate((spec.worker_pool_specs or ())[:MAX_POOLS]):
        yield from _pool_warnings(pool, f"{at}.workerPoolSpecs[{index}]")
    if spec.scheduling is not None:
        yield from _scheduling_warnings(spec.scheduling, f"{at}.scheduling")


def _pool_warnings(pool: models.WorkerPoolSpec, at: str) -> Iterator[str]:
    if pool.nfs_mounts or pool.lustre_mounts:
        yield f"{at}: Footplate doesn't mount NFS and Lustre shares"
    machine = pool.machine_spec or models.MachineSpec()
    if machine.gpu_partition_size:
        yield _no_effect(f"{at}.machineSpec.gpuPartitionSize")
    affinity = machine.reservation_affinity
    if affinity is not None:
        yield _no_effect(f"{at}.machineSpec.reservationAffinity")
        specific = ReservationAffinityType.SPECIFIC_RESERVATION
        if (affinity.key or affinity.values) and affinity.reservation_affinity_type != specific:
            yield (
                f"{at}.machineSpec.reservationAffinity: key and values have an effect only with "
                "SPECIFIC_RESERVATION"
            )
    for name in ("container_spec", "python_package_spec"):
        program: models.ContainerSpec | models.PythonPackageSpec | None = getattr(pool, name)
        if program is not None:
            alias = models.WorkerPoolSpec.model_fields[name].alias
            yield from _variable_warnings(program.env or (), f"{at}.{alias}.env")


def _variable_warnings(variables: Sequence[models.EnvVar], at: str) -> Iterator[str]:
    counts = Counter(variable.name for variable in variables if variable.name)
    several = ((name, count) for name, count in counts.items() if count > 1)
    for name, count in islice(several, MAX_WARNINGS):
        yield f"{at}: the variable {describe(name)} is given {count} times; the last value counts"


def _scheduling_warnings(scheduling: models.Scheduling, at: str) -> Iterator[str]:
    if scheduling.disable_retries and scheduling.restart_job_on_worker_restart:
        yield f"{at}.restartJobOnWorkerRestart has no effect beside disableRetries"
    if scheduling.max_wait_duration and scheduling.strategy is not Strategy.FLEX_START:
        yield f"{at}.maxWaitDuration has no effect without the strategy FLEX_START"
    if scheduling.strategy in _DEPRECATED:
        yield f"{at}.strategy {scheduling.strategy.name} is deprecated and means STANDARD"


def _no_effect(field: str) -> str:
    return f"{field} is accepted and has no effect here"
