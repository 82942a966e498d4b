"""The variables that ``torch.distributed`` reads with ``env://``.

The primary is rank 0, the workers follow in their order. Parameter servers and evaluators have no
rank, and a primary without workers neither: libraries go distributed when they see these variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.cluster_spec import WORKER, task_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.jobs import Address, JobSpec


def variables(spec: JobSpec, replica: str, addresses: Mapping[str, Address]) -> dict[str, str]:
    """``addresses`` has every replica of the job by its name.

    They meet at the primary's own port, on which its program is to listen.
    """
    ranked = _ranked(spec)
    if len(ranked) == 1 or replica not in ranked:
        return {}
    primary = addresses[ranked[0]]
    return {
        "MASTER_ADDR": primary.host,
        "MASTER_PORT": str(primary.port),
        "RANK": str(ranked.index(replica)),
        "WORLD_SIZE": str(len(ranked)),
    }


def _ranked(spec: JobSpec) -> list[str]:
    return [
        name
        for name, pool, _ in spec.replicas()
        if pool is spec.primary or task_type(spec, pool) == WORKER
    ]
