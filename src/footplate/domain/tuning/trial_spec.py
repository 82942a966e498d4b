"""Builds the job spec of a trial: the job's own, with parameters, number and directories."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.studies.parameters import DiscreteParameter

if TYPE_CHECKING:
    from footplate.domain.jobs import Directory, JobSpec, Program, WorkerPool
    from footplate.domain.studies.parameters import Parameter, Value
    from footplate.domain.studies.space import Point, SearchSpace
    from footplate.domain.tuning.search import Search

REGION_VARIABLE = "CLOUD_ML_REGION"
"""Tells programs the region of their job."""


def trial_spec(spec: JobSpec, search: Search, number: int, point: Point, job_id: str) -> JobSpec:
    """``spec`` of a tuning job called ``job_id``, for one of the trials of its ``search``.

    Each replica of a trial gets its parameters behind the user's own arguments, and each trial its
    own directories: ``JOB_DIR/NUMBER``, ``BASE/NUMBER/model``. Source: the pages on
    hyperparameter tuning of both services. Where the search has regions, it is in one of them.
    """
    region = search.region_of(number)
    if region is not None:
        spec = move(spec, region)
    tags = tuple(metric.name for metric in search.study.metrics)
    return run_spec(spec, flags(search.study.space, point), tags, number, job_id)


def run_spec(
    spec: JobSpec, given: tuple[str, ...], metrics: tuple[str, ...], number: int, job_id: str
) -> JobSpec:
    """``given``: the trial's own arguments; ``metrics``: what it is to report."""
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
    """``spec`` in another region."""
    told = tuple((n, region if n == REGION_VARIABLE else v) for n, v in spec.environment)
    return replace(spec, region=region, environment=told)


def flags(space: SearchSpace, point: Point) -> tuple[str, ...]:
    """``--NAME=VALUE`` for each parameter that is active there, in the order of the space."""
    active = zip(space.slots, space.active_values(point), strict=True)
    return tuple(
        f"--{slot.parameter.name}={written(slot.parameter, value)}"
        for slot, value in active
        if value is not None
    )


def written(parameter: Parameter, value: Value) -> str:
    """Returns a value as a program gets it: ``.0`` only in ranges, not in lists of numbers."""
    if isinstance(value, str):
        return value
    if isinstance(parameter, DiscreteParameter) and float(value).is_integer():
        return str(int(value))
    return repr(value)


def numbered(uri: str, number: int, leaf: str = "") -> str:
    """``uri`` with the trial's number before ``leaf``, which it ends with, or at its end."""
    base = uri.removesuffix(leaf).rstrip("/")
    return f"{base}/{number}/{leaf}" if leaf else f"{base}/{number}"


def _pool(pool: WorkerPool, given: tuple[str, ...]) -> WorkerPool:
    """Reduction servers are the service's own program, which knows no parameters."""
    if role_of(pool) is ClusterRole.REDUCER:
        return pool
    return replace(pool, program=_program(pool.program, given))


def _program(program: Program, given: tuple[str, ...]) -> Program:
    return replace(program, args=(*(program.args or ()), *given))


def _directory(directory: Directory, number: int) -> Directory:
    return replace(directory, uri=numbered(directory.uri, number, directory.leaf))
