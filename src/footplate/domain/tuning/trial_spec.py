"""Builds the job spec of a trial: the job's own, with parameters, number and directories."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.jobs import Directory, JobSpec, WorkerPool
from footplate.domain.studies.parameters import DiscreteParameter, Parameter, Value
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.tuning.search import Search

REGION_VARIABLE = "CLOUD_ML_REGION"
"""Tells programs the region of their job."""


def trial_spec(spec: JobSpec, search: Search, number: int, point: Point, job_id: str) -> JobSpec:
    """Returns a trial's job spec, made from ``spec``, that of the tuning job ``job_id``.

    Each replica of a trial gets the trial's parameters after the user's own arguments, and each
    trial its own directories: ``JOB_DIR/NUMBER``, ``BASE/NUMBER/model``. Source: the pages on
    hyperparameter tuning of both services. If the search has regions, the trial runs in one of
    them.
    """
    region = search.region_of(number)
    if region is not None:
        spec = move(spec, region)
    tags = tuple(metric.name for metric in search.study.metrics)
    return run_spec(spec, flags(search.study.space, point), tags, number, job_id)


def run_spec(
    spec: JobSpec, given: tuple[str, ...], metrics: tuple[str, ...], number: int, job_id: str
) -> JobSpec:
    """Returns the job spec for a trial.

    ``given`` are the trial's own arguments, ``metrics`` the metrics that it should report.
    """
    return replace(
        spec,
        search=None,
        metrics=metrics,
        trial=str(number),
        pools=tuple(_pool(pool, given) for pool in spec.pools),
        job_dir=None if spec.job_dir is None else numbered(spec.job_dir, number),
        directories=tuple(_directory(directory, number) for directory in spec.directories),
        environment=(*spec.environment, ("CLOUD_ML_JOB_ID", job_id)),
    )


def move(spec: JobSpec, region: str) -> JobSpec:
    """Returns ``spec`` for another region, variables included."""
    told = tuple((n, region if n == REGION_VARIABLE else v) for n, v in spec.environment)
    return replace(spec, region=region, environment=told)


def flags(space: SearchSpace, point: Point) -> tuple[str, ...]:
    """Returns ``--NAME=VALUE`` for each parameter that is active, in the space's order."""
    active = zip(space.slots, space.active_values(point), strict=True)
    return tuple(
        f"--{slot.parameter.name}={written(slot.parameter, value)}"
        for slot, value in active
        if value is not None
    )


def written(parameter: Parameter, value: Value) -> str:
    """Formats a value as a program gets it: with ``.0`` in ranges, without it in lists."""
    if isinstance(value, str):
        return value
    if isinstance(parameter, DiscreteParameter) and float(value).is_integer():
        return str(int(value))
    return repr(value)


def numbered(uri: str, number: int, leaf: str = "") -> str:
    """Inserts the trial's number into ``uri``, before ``leaf`` at its end, or at the very end."""
    base = uri.removesuffix(leaf).rstrip("/")
    return f"{base}/{number}/{leaf}" if leaf else f"{base}/{number}"


def _pool(pool: WorkerPool, given: tuple[str, ...]) -> WorkerPool:
    """Adds arguments to a pool's program; reduction servers take no parameters."""
    if role_of(pool) is ClusterRole.REDUCER:
        return pool
    return replace(pool, program=replace(pool.program, args=(*(pool.program.args or ()), *given)))


def _directory(directory: Directory, number: int) -> Directory:
    return replace(directory, uri=numbered(directory.uri, number, directory.leaf))
