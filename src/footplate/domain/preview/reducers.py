"""Advice about jobs with reduction servers. Pure.

Sources: the service's page on Reduction Server (machines, bandwidth, message sizes); for the ring,
that each of its n members sends 2(n-1)/n of the data, where a worker sends it to reducers once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from footplate.domain.catalogue import Catalogue, MachineType
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.errors import InvalidArgument
from footplate.domain.formatting import shortened
from footplate.domain.jobs import PythonProgram, WorkerPool
from footplate.domain.preview.pool_messages import for_pools
from footplate.domain.reduction import MIN_PYTHON, is_too_old

REDUCER_VCPUS = 16
BUCKET_MB = 64
FUSION_VARIABLE = "HOROVOD_FUSION_THRESHOLD"
FUSION_BYTES = 128 << 20
_FAMILIES = ("n1-", "n2-")
_FRAMEWORK = "PyTorch"
_INSTEAD = (
    "the replicas all-reduce among themselves, with the same result, and the reduction "
    "servers stand idle"
)


def advise_reducers(pools: Sequence[WorkerPool], catalogue: Catalogue) -> Iterator[str]:
    """Yields advice on reduction servers; ``pools`` are the pools that have replicas."""
    workers = [pool for pool in pools if role_of(pool) in (ClusterRole.PRIMARY, ClusterRole.WORKER)]
    reducers = [pool for pool in pools if role_of(pool) is ClusterRole.REDUCER]
    for pool in reducers:
        yield from _machine(pool, catalogue)
        yield from _count(pool, workers, catalogue)
        yield from for_pools(workers, lambda worker: _unserved(worker, catalogue))
    if reducers:
        yield (
            "reduction servers are faster with large messages: wrap the model with "
            f"DistributedDataParallel(..., bucket_cap_mb={BUCKET_MB}); the default is 25"
        )
        yield from _horovod(workers)


def bandwidth_step(pools: Sequence[WorkerPool], catalogue: Catalogue) -> Iterator[str]:
    """Yields a sentence comparing the bandwidths of workers and reducers, if they are known."""
    workers = [pool for pool in pools if role_of(pool) in (ClusterRole.PRIMARY, ClusterRole.WORKER)]
    reducers = [pool for pool in pools if role_of(pool) is ClusterRole.REDUCER]
    sent, taken = _bandwidth_gbps(workers, catalogue), _bandwidth_gbps(reducers, catalogue)
    if sent and taken:
        yield (
            f"By the machine types the workers send at most {sent:g} Gbps in all, and the "
            f"reduction servers receive {taken:g} Gbps."
        )


def _machine(pool: WorkerPool, catalogue: Catalogue) -> Iterator[str]:
    name = pool.machine.machine_type
    kind = catalogue.machine_types.get(name)
    if kind is not None and (not name.startswith(_FAMILIES) or kind.vcpus < REDUCER_VCPUS):
        yield (
            f"reduction servers need an n1 or n2 machine of at least {REDUCER_VCPUS} vCPUs, "
            f"such as n1-highcpu-16, for the bandwidth; {pool.cluster_role} has {name}"
        )


def _count(pool: WorkerPool, workers: Sequence[WorkerPool], catalogue: Catalogue) -> Iterator[str]:
    """Yields advice if workers are too few to gain, or reducers too few to serve them."""
    members = sum(worker.replica_count for worker in workers)
    if members == 1:
        yield "a single worker has no other to reduce with: the reduction servers would stand idle"
        return
    if members == 2:
        yield "2 workers all-reduce as fast in a ring, without reduction servers"
        return
    kind = catalogue.machine_types.get(pool.machine.machine_type)
    sent_gbps = _bandwidth_gbps(workers, catalogue)
    if kind is None or not kind.egress_gbps or sent_gbps is None:
        yield from _count_alike(pool, members)
        return
    yield from _count_bandwidth(pool, kind, kind.egress_gbps, members, sent_gbps)


def _count_alike(pool: WorkerPool, members: int) -> Iterator[str]:
    """Yields advice from counts alone, as if all machines had the same bandwidth."""
    least = _break_even(members, 1.0 * members)
    if pool.replica_count < least:
        yield (
            f"{_servers(pool.replica_count)} for {members} workers are slower than a ring if "
            f"all machines have the same bandwidth: {least} are faster than a ring, {members} "
            "are fastest"
        )


def _count_bandwidth(
    pool: WorkerPool, kind: MachineType, egress_gbps: float, members: int, sent_gbps: float
) -> Iterator[str]:
    matching = math.ceil(sent_gbps / egress_gbps)
    if pool.replica_count >= matching:
        return
    least = _break_even(members, sent_gbps / egress_gbps)
    slower = pool.replica_count < least
    yield (
        f"{pool.replica_count} x {kind.name} receive {pool.replica_count * egress_gbps:g} Gbps, "
        f"but the workers send {sent_gbps:g} Gbps: {matching} reduction servers would match"
        + (f", and fewer than {least} are slower than a ring of workers" if slower else "")
    )


def _break_even(members: int, matching: float) -> int:
    """Returns how many reducers beat a ring, if ``matching`` ones receive all that workers send."""
    return math.floor(matching * members / (2 * (members - 1))) + 1


def _servers(count: int) -> str:
    return "1 reduction server" if count == 1 else f"{count} reduction servers"


def _bandwidth_gbps(workers: Sequence[WorkerPool], catalogue: Catalogue) -> float | None:
    """Returns the bandwidth of all workers together; None: some worker's is unknown."""
    sent = 0.0
    for pool in workers:
        kind = catalogue.machine_types.get(pool.machine.machine_type)
        if kind is None or kind.egress_gbps is None:
            return None
        sent += kind.egress_gbps * pool.replica_count
    return sent


def _unserved(pool: WorkerPool, catalogue: Catalogue) -> Iterator[str]:
    """Yields advice for workers that reduction servers can't serve, with the consequence."""
    if not isinstance(pool.program, PythonProgram):
        yield (
            "the image needs the package footplate-reduction (pip install ./reduction from "
            f"Footplate's clone), and the program must call it: else {_INSTEAD}"
        )
        return
    try:
        runtime = catalogue.runtimes.resolve(pool.program.runtime, pool.field)
    except InvalidArgument:
        return
    name = shortened(pool.program.runtime.rpartition("/")[2])
    if is_too_old(pool, catalogue.runtimes):
        least = ".".join(map(str, MIN_PYTHON))
        yield (
            f"{name} has Python {runtime.python}, and reduction servers need Python {least} or "
            f"later: {_INSTEAD}. Programs of {name} can't import footplate_reduction"
        )
    elif not runtime.name.startswith(_FRAMEWORK):
        yield (
            f"reduction servers work only with {_FRAMEWORK} here, which {name} doesn't have: "
            f"unless the program calls footplate_reduction itself, {_INSTEAD}"
        )


def _horovod(workers: Sequence[WorkerPool]) -> Iterator[str]:
    """Yields Horovod's recommended threshold, if a pool sets a lower one or no pool sets one."""
    given = {pool.cluster_role: dict(pool.environment).get(FUSION_VARIABLE) for pool in workers}
    too_low = {role: value for role, value in given.items() if value and not _is_enough(value)}
    for role, value in too_low.items():
        yield (
            f"{role}: {FUSION_VARIABLE} is {shortened(value)}; with reduction servers at least "
            f"{FUSION_BYTES} (128 MB) is recommended"
        )
    setting = f"; on Vertex AI set {FUSION_VARIABLE}={FUSION_BYTES} (128 MB)"
    advice = "" if any(given.values()) else setting
    yield (
        (
            "Horovod all-reduces without reduction servers here, which stand idle; Google's "
            "reduction servers work with Horovod"
        )
        + advice
    )


def _is_enough(value: str) -> bool:
    return (
        not value.isdecimal() or len(value) > len(str(FUSION_BYTES)) or int(value) >= FUSION_BYTES
    )
