"""The interface that an engine must implement."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.ports.backend import ReplicaMachine
    from footplate.ports.engines import EngineReport


class EngineUnavailable(Exception):
    """The engine doesn't answer, or not with sense; what was asked may have been done."""


class EngineRefused(Exception):
    """The engine won't take the job as it is; the message is for users."""


class JobPhase(Enum):
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    """Something of it may run on a node."""
    ENDED = "ENDED"


@dataclass(frozen=True)
class EngineTask:
    """The state of one launcher, from an engine that sees the launchers of a job one by one."""

    ended: bool = False
    """None of its processes is left."""
    stuck: bool = False
    """If it hasn't started yet, it won't as it is."""
    reason: str = ""
    cancelled: bool = False


@dataclass(frozen=True)
class EngineJob:
    """A job of the engine, as that sees it."""

    id: str
    name: str
    phase: JobPhase
    reason: str = ""
    """Why it waits, or how it ended, for users."""
    nodes: str = ""
    """The nodes in the engine's own notation."""
    cancelled: bool = False
    """Somebody has cancelled it with the engine's own means, or we have."""
    lost: bool = False
    """A node of it did not answer when it ended: what ran there may go on when the node is back."""
    ending: bool = False
    """It is being ended as a whole; how, the engine will say when it has ended."""
    tasks: tuple[EngineTask, ...] = ()
    """The tasks by rank; empty: the engine sees the job as a whole."""


@dataclass(frozen=True)
class LauncherRequest:
    """One launcher that is wanted, and the machine that it is for; 0 and empty: unknown."""

    replica: str
    machine_type: str = ""
    vcpus: int = 0
    memory_mb: int = 0
    accelerator_type: str = ""
    accelerators: int = 0
    image: str = ""
    """The container image that the replica runs; empty: it runs none."""

    @classmethod
    def on(cls, replica: str, machine: ReplicaMachine, image: str = "") -> LauncherRequest:
        return replace(cls(replica, *astuple(machine)), image=image)


@dataclass(frozen=True)
class JobRequest:
    """A job with one launcher for each rank, all of them at once or none.

    Each rank runs a Python on its node with ``program`` as its standard input.
    """

    name: str
    """No other job has it, at any time."""
    region: str
    launchers: tuple[LauncherRequest, ...]
    program: bytes


class Engine(Protocol):
    """Calls may take seconds, and are made on one thread."""

    title: str
    """The name that users know: ``Slurm``."""
    rank_variable: str
    job_variable: str
    node_variable: str

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:
        """Returns why no job can ever have these launchers; None if one can. Asks nobody."""
        ...

    def submit(self, request: JobRequest) -> str:
        """Returns the job's id. Whether the name is taken isn't looked at.

        Raises:
            EngineUnavailable: it may have been submitted all the same.
            EngineRefused: it wasn't, and won't be as it is.
        """
        ...

    def cancel(self, job_id: str) -> None:
        """Raises EngineUnavailable. A job that has ended is left alone."""
        ...

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        """Returns jobs whose names begin with ``prefix``, as long as the engine remembers them.

        Raises EngineUnavailable.
        """
        ...

    def find(self, job_id: str) -> EngineJob | None:
        """Returns a job; None: the engine doesn't know it (any more). Raises EngineUnavailable."""
        ...

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns the nodes that don't answer the engine: something may still run there.

        Raises EngineUnavailable.
        """
        ...

    def check(self) -> EngineReport:
        """Reports what it has, and what is wrong with it or with the settings; never raises."""
        ...
