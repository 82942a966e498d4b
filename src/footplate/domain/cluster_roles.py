"""The role of a pool's replicas in a distributed job."""

from __future__ import annotations

from enum import Enum

from footplate.domain.jobs import PythonProgram, WorkerPool


class ClusterRole(Enum):
    """The role of replicas in the cluster; each value is the role's plural name."""

    PRIMARY = "primary replicas"
    WORKER = "workers"
    PARAMETER_SERVER = "parameter servers"
    REDUCER = "reduction servers"
    EVALUATOR = "evaluators"

    @property
    def one(self) -> str:
        return self.value.removesuffix("s")


_BY_ROLE = {
    "master": ClusterRole.PRIMARY,
    "chief": ClusterRole.PRIMARY,
    "workerpool0": ClusterRole.PRIMARY,
    "ps": ClusterRole.PARAMETER_SERVER,
    "workerpool2": ClusterRole.PARAMETER_SERVER,
    "evaluator": ClusterRole.EVALUATOR,
    "workerpool3": ClusterRole.EVALUATOR,
}
REDUCER_RUNTIME = "reducer:"
"""With what the runtime of such a pool begins."""


def role_of(pool: WorkerPool) -> ClusterRole:
    """Returns a pool's role; the role of the third pool depends on its program."""
    part = _BY_ROLE.get(pool.cluster_role, ClusterRole.WORKER)
    if part is ClusterRole.PARAMETER_SERVER and _reduces(pool):
        return ClusterRole.REDUCER
    return part


def _reduces(pool: WorkerPool) -> bool:
    program = pool.program
    return isinstance(program, PythonProgram) and program.runtime.startswith(REDUCER_RUNTIME)
