"""The description of the cluster that programs find in TF_CONFIG and CLUSTER_SPEC.

Source: the training services' pages on distributed training ("CLUSTER_SPEC", "TF_CONFIG").
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from footplate.domain.jobs import ClusterVariable, JobSpec, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.domain.jobs import Address

EVALUATOR = "evaluator"
"""The role that looks at the cluster from outside: it is no member."""


def variables(spec: JobSpec, replica: str, addresses: Mapping[str, Address]) -> dict[str, str]:
    """The cluster variables of one replica.

    ``addresses`` has every replica of the job by its name.
    """
    made: dict[str, str] = {}
    if ClusterVariable.CLUSTER_SPEC in spec.cluster_variables:
        made["CLUSTER_SPEC"] = _describe(spec, replica, addresses, chief=None)
    if ClusterVariable.TF_CONFIG in spec.cluster_variables:
        made["TF_CONFIG"] = _describe(spec, replica, addresses, chief=spec.chief_role)
    return made


def _describe(
    spec: JobSpec, replica: str, addresses: Mapping[str, Address], *, chief: str | None
) -> str:
    """``chief`` renames the primary's role; None keeps every pool's own."""
    cluster = {
        _role(spec, pool, chief): [str(addresses[name]) for name in pool.replica_names()]
        for pool in spec.pools
        if pool.replica_count and pool.cluster_role != EVALUATOR
    }
    pool, index = next((p, i) for name, p, i in spec.replicas() if name == replica)
    task: dict[str, object] = {"type": _role(spec, pool, chief), "index": index}
    description = {
        "cluster": cluster,
        "environment": "cloud",
        "task": task,
        "job": json.loads(spec.cluster_job),
    }
    return json.dumps(description, ensure_ascii=False)


def _role(spec: JobSpec, pool: WorkerPool, chief: str | None) -> str:
    return chief if chief is not None and pool is spec.primary else pool.cluster_role
