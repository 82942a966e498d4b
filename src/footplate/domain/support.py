"""What the faces accept and this version can't run yet."""

from __future__ import annotations

from footplate.domain.errors import Unimplemented
from footplate.domain.jobs import ContainerProgram, JobSpec


def require_supported(spec: JobSpec, *, tuning: bool) -> None:
    """Refuse a job that this version can't run.

    Raises:
        Unimplemented: saying what is not there yet.
    """
    if tuning:
        raise Unimplemented(
            "this version of Footplate doesn't run hyperparameter tuning jobs yet; "
            "submit the job without the hyperparameters block"
        )
    if any(isinstance(pool.program, ContainerProgram) for pool in spec.pools):
        raise Unimplemented(
            "this version of Footplate doesn't run custom containers yet; use a runtime version "
            "(ml) or a Python package with a prebuilt executor image (Vertex AI)"
        )
    replicas = sum(pool.replica_count for pool in spec.pools)
    if replicas > 1:
        raise Unimplemented(
            f"this version of Footplate runs jobs of one replica, and this one has {replicas}; "
            "jobs of several replicas are not there yet"
        )
