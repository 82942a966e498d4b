"""Reduction servers: their image, and the variables of servers and workers.

Source: the training service's page on Reduction Server (the image in the third worker pool). The
variables are those of the distribution footplate-reduction.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from footplate.domain.cluster_roles import REDUCER_RUNTIME, ClusterRole, role_of
from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import Address, ContainerProgram, JobSpec, PythonProgram, WorkerPool
from footplate.domain.runtimes import Runtimes

POOL = 2
"""The place of the worker pool that may run them."""
IMAGE = "footplate/reductionserver"
"""Our own name for it."""
MIN_PYTHON = (3, 8)
_IMAGE = re.compile(
    r"(?:(?:us|europe|asia)-docker\.pkg\.dev/vertex-ai-restricted/training|footplate)/"
    r"reductionserver(?::[\w][\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
)
_SENDERS = (ClusterRole.PRIMARY, ClusterRole.WORKER)


def is_image(uri: str) -> bool:
    """Returns whether an image is a Reduction Server, by Google's or Footplate's names."""
    return _IMAGE.fullmatch(uri) is not None


def program(image_uri: str) -> PythonProgram:
    """Returns the program that runs in place of the image."""
    return PythonProgram(f"{REDUCER_RUNTIME}{image_uri}", (), "footplate_reduction", ("reducer",))


def has_reducers(spec: JobSpec) -> bool:
    return any(pool.replica_count and role_of(pool) is ClusterRole.REDUCER for pool in spec.pools)


def takes_part(pool: WorkerPool) -> bool:
    """Returns whether a pool takes part in reduction, if the job has reducers."""
    return role_of(pool) in (ClusterRole.REDUCER, *_SENDERS)


def is_served(spec: JobSpec, runtimes: Runtimes) -> bool:
    """Returns whether the job has reduction servers that all of its workers can use.

    Without them the workers all-reduce among themselves.
    """
    senders = (pool for pool in spec.pools if role_of(pool) in _SENDERS)
    return has_reducers(spec) and not any(is_too_old(pool, runtimes) for pool in senders)


def is_too_old(pool: WorkerPool, runtimes: Runtimes) -> bool:
    """Returns whether the pool's Python is too old for the client of the reduction servers."""
    python = python_of(pool, runtimes)
    return python is not None and python < MIN_PYTHON


def python_of(pool: WorkerPool, runtimes: Runtimes) -> tuple[int, ...] | None:
    """Returns the version of the pool's Python; None: it isn't known."""
    if isinstance(pool.program, ContainerProgram):
        return None
    try:
        runtime = runtimes.resolve(pool.program.runtime, pool.field)
    except InvalidArgument:
        return None
    return tuple(int(number) for number in runtime.python.split("."))


def variables(
    spec: JobSpec,
    replica: str,
    addresses: Mapping[str, Address],
    job: str,
    token: str,
    runtimes: Runtimes,
) -> dict[str, str]:
    """Returns variables with the address where a reducer listens, or with the reducers' addresses.

    Other replicas get none, nor do workers of a job that reduction servers don't serve.

    ``addresses`` has the address of every replica of the job, by name. ``job`` and ``token`` are
    the same for all of them, and keep strangers and other jobs away.
    """
    pools = {name: pool for name, pool, _ in spec.replicas()}
    if not has_reducers(spec) or not takes_part(pools[replica]):
        return {}
    given = {"FOOTPLATE_REDUCTION_JOB": job, "FOOTPLATE_REDUCTION_TOKEN": token}
    if role_of(pools[replica]) is ClusterRole.REDUCER:
        own = addresses[replica]
        place = {
            "FOOTPLATE_REDUCTION_HOST": own.host,
            "FOOTPLATE_REDUCTION_PORT": str(own.port),
            "FOOTPLATE_REDUCTION_STATS": "reduction.json",
        }
        return given | place
    if not is_served(spec, runtimes):
        return {}
    reducers = [
        str(addresses[n]) for n, pool in pools.items() if role_of(pool) is ClusterRole.REDUCER
    ]
    return given | {"FOOTPLATE_REDUCERS": ",".join(reducers)}
