"""What Google's Reduction Server requires of a job's workers. Pure.

Source: the service's page on distributed training ("Prerequisites" of Reduction Server).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.catalogue import AcceleratorKind
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.formatting import shortened
from footplate.domain.jobs import ContainerProgram
from footplate.domain.machines import accelerators_of
from footplate.domain.preview.pool_messages import for_pools

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import WorkerPool

MIN_VERSIONS = {"tf": (2, 3), "pytorch": (1, 4)}
"""The first prebuilt images of each framework that have what it needs."""
_IMAGE = re.compile(
    r"/training/(?P<framework>[a-z-]+)-(?P<variant>cpu|gpu)\.(?P<major>\d{1,9})-(?P<minor>\d{1,9})"
)
_WANTED = "prebuilt GPU images of TensorFlow 2.3, PyTorch 1.4 and later"


def reducer_doubts(pools: Sequence[WorkerPool], catalogue: Catalogue) -> Iterator[str]:
    """Nothing where no pool runs reduction servers."""
    if not any(role_of(pool) is ClusterRole.REDUCER and pool.replica_count for pool in pools):
        return
    workers = (
        p
        for p in pools
        if p.replica_count and role_of(p) in (ClusterRole.PRIMARY, ClusterRole.WORKER)
    )
    yield from for_pools(workers, lambda pool: _doubts(pool, catalogue))


def _doubts(pool: WorkerPool, catalogue: Catalogue) -> Iterator[str]:
    if not _has_gpu(pool, catalogue):
        yield "no GPU; Google's Reduction Server wants GPU workers that all-reduce by NCCL"
    image = _image(pool)
    match = _IMAGE.search(image)
    if match is None:
        if isinstance(pool.program, ContainerProgram):
            yield (
                "Google's Reduction Server wants NCCL 2.7 or later and the package "
                "google-reduction-server in a container of your own"
            )
        return
    least = MIN_VERSIONS.get(match["framework"])
    version = int(match["major"]), int(match["minor"])
    if match["variant"] == "cpu" or least is None or version < least:
        name = shortened(image.rpartition("/")[2])
        yield (
            f"Google's Reduction Server wants NCCL, which {_WANTED} have, and {name} is none of "
            "these"
        )


def _image(pool: WorkerPool) -> str:
    program = pool.program
    if isinstance(program, ContainerProgram):
        return program.image_uri
    return program.runtime.partition(":")[2]


def _has_gpu(pool: WorkerPool, catalogue: Catalogue) -> bool:
    name, count = accelerators_of(pool.machine, catalogue)
    known = catalogue.accelerators.get(name or "")
    return known is not None and known.kind is AcceleratorKind.GPU and count > 0
