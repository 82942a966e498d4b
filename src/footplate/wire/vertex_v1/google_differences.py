"""Reports where Google's service would refuse an accepted job, or treat it differently.

What depends on the catalogue alone is no matter of a face, and not here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.formatting import shortened
from footplate.wire.vertex_v1.rules.job_specs import MAX_POOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.wire.vertex_v1.models import (
        CustomJob,
        CustomJobSpec,
        HyperparameterTuningJob,
        WorkerPoolSpec,
    )

_PROJECT_ID = re.compile(r"projects/(?![0-9]+/)[^/\s]+/")
MAX_METRICS = 20
"""That are spoken of."""
_LOCATION = re.compile(r"projects/[^/]+/locations/(?P<location>[^/]+)/")


def differences(
    job: CustomJob | HyperparameterTuningJob, spec: CustomJobSpec, at: str, region: str
) -> Iterator[str]:
    """Yields the points in which Google's service would refuse the job, or treat it differently.

    ``at`` is the spec's path in the request; the job may be one that this service refuses.
    """
    base = spec.base_output_directory
    if base and (base.output_uri_prefix or "").startswith("/"):
        yield (
            f"{at}.baseOutputDirectory.outputUriPrefix is a path of this machine; "
            "Google's service takes only gs://"
        )
    if _PROJECT_ID.match(spec.network or ""):
        yield f"{at}.network: Google's service requires the project's number, not the project's id"
    if spec.tensorboard and not spec.service_account:
        yield f"{at}.tensorboard: Google's service requires a serviceAccount with this field"
    key = job.encryption_spec.kms_key_name if job.encryption_spec else None
    for field, name in ((f"{at}.tensorboard", spec.tensorboard), ("encryptionSpec", key)):
        found = _LOCATION.match(name or "")
        if found and found["location"] != region:
            where = shortened(found["location"])
            yield (
                f"{field} is in {where}; Google's service requires the job's own region, {region}"
            )
    for index, pool in enumerate((spec.worker_pool_specs or ())[:MAX_POOLS]):
        yield from _pool_differences(pool, f"{at}.workerPoolSpecs[{index}]", primary=index == 0)


def study_differences(job: HyperparameterTuningJob) -> Iterator[str]:
    metrics = (job.study_spec and job.study_spec.metrics) or ()
    for index, metric in enumerate(metrics[:MAX_METRICS]):
        if metric.safety_config is not None:
            yield (
                f"studySpec.metrics[{index}].safetyConfig has no effect here; Google's service "
                "avoids unsafe trials"
            )


def _pool_differences(pool: WorkerPoolSpec, at: str, *, primary: bool) -> Iterator[str]:
    if primary and pool.replica_count is None:
        yield (
            f"{at}.replicaCount isn't given, so 1 replica starts; Google's documentation "
            "requires a replicaCount"
        )
    machine = pool.machine_spec
    if machine and machine.gpu_partition_size and (machine.accelerator_count or 0) > 1:
        yield (
            f"{at}.machineSpec.gpuPartitionSize: Google's service requires acceleratorCount 1 "
            "with this field"
        )
