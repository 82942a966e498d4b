"""What part the replicas of a pool play in a distributed job."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from footplate.domain.jobs import PythonProgram

if TYPE_CHECKING:
    from footplate.domain.jobs import WorkerPool


class Part(Enum):
    """The value says it in words, for many."""

    PRIMARY = "primary replicas"
    WORKER = "workers"
    PARAMETER_SERVER = "parameter servers"
    REDUCER = "reduction servers"
    EVALUATOR = "evaluators"

    @property
    def one(self) -> str:
        return self.value.removesuffix("s")


_BY_ROLE = {
    "master": Part.PRIMARY,
    "chief": Part.PRIMARY,
    "workerpool0": Part.PRIMARY,
    "ps": Part.PARAMETER_SERVER,
    "workerpool2": Part.PARAMETER_SERVER,
    "evaluator": Part.EVALUATOR,
    "workerpool3": Part.EVALUATOR,
}
REDUCER_RUNTIME = "reducer:"
"""With what the runtime of such a pool begins."""


def part_of(pool: WorkerPool) -> Part:
    """By its role, as both faces name them; in the third pool what it runs decides."""
    part = _BY_ROLE.get(pool.cluster_role, Part.WORKER)
    if part is Part.PARAMETER_SERVER and _reduces(pool):
        return Part.REDUCER
    return part


def _reduces(pool: WorkerPool) -> bool:
    program = pool.program
    return isinstance(program, PythonProgram) and program.runtime.startswith(REDUCER_RUNTIME)
