"""The interface that an engine must implement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from enum import Enum
from typing import Protocol

from footplate.ports.backend import EndCause, ReplicaMachine
from footplate.ports.engines import EngineReport


class EngineUnavailable(Exception):
    """The engine doesn't answer, or not sensibly. It may have executed the request all the same."""


class EngineRefused(Exception):
    """The engine rejects the job in this form; the message is for users."""


class JobPhase(Enum):
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    """Something of it may run on a node."""
    ENDED = "ENDED"


@dataclass(frozen=True)
class EngineTask:
    """The state of one launcher, from an engine that reports the launchers of a job one by one."""

    ended: bool = False
    """None of its processes is left."""
    stuck: bool = False
    """If it hasn't started yet, it won't as it is."""
    reason: str = ""
    cause: EndCause = EndCause.UNKNOWN


@dataclass(frozen=True)
class EngineJob:
    """A job of the engine, in the engine's view."""

    id: str
    name: str
    phase: JobPhase
    reason: str = ""
    """Why it waits, that it is suspended, or how it ended, for users."""
    nodes: str = ""
    """The nodes in the engine's own notation."""
    cause: EndCause = EndCause.UNKNOWN
    """How it ended; CANCELLED also if we have cancelled it."""
    refused: bool = False
    """The engine has ended it before anything of it ran, as one that it can't run as it is."""
    lost: bool = False
    """A node of it did not answer when it ended: what ran there may go on when the node is back."""
    suspended: bool = False
    """Its processes are frozen until it is resumed, as the reason says: launchers can't call."""
    ending: bool = False
    """It is being ended as a whole; how, the engine will say when it has ended."""
    expired: bool = False
    """It is refused because it found no room for as long as the engine lets jobs wait."""
    tasks: tuple[EngineTask, ...] = ()
    """The tasks by rank; empty: the engine sees the job as a whole."""
    started_s: float = 0.0
    ends_s: float = 0.0
    """When it started and when its time is over, if it runs (Unix time); 0: unknown. Without a
    limit it ends at infinity.
    """


@dataclass(frozen=True)
class NodeState:
    """The state of a node, as far as the engine knows it; 0 and empty mean unknown."""

    name: str
    silent: bool = False
    """It doesn't answer the engine. Its processes may run on."""
    boot_id: str = ""
    """The kernel's, which differs from boot to boot."""
    booted_s: float = 0.0
    """When it was booted (Unix time)."""
    daemon_started_s: float = 0.0
    """When the engine's daemon was started there (Unix time)."""
    off: str = ""
    """What ends all that ran there, after the node's name in a sentence: ``is powered off``."""
    draining: bool = False
    """It is to start nothing more."""


@dataclass(frozen=True)
class LauncherRequest:
    """A launcher to start, and the machine that it needs; 0 and empty mean unknown."""

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
    """A job with one launcher for each rank; the engine starts all of them or none.

    Each rank runs a Python on its node with ``program`` as its standard input.
    """

    name: str
    """No other job has it, at any time."""
    region: str
    launchers: tuple[LauncherRequest, ...]
    program: bytes
    limit_s: float = 0.0
    """After how long the engine may end the job, from its start; 0: the engine decides."""
    project: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The labels of Footplate's job."""


class Engine(Protocol):
    """An engine that runs jobs. Its methods may take seconds, and are called on one thread."""

    title: str
    """The name that users know: ``Slurm``."""
    oddities: tuple[str, ...]
    """What the last list left out, because it could not be read: a sentence each."""
    rank_variable: str
    job_variable: str
    node_variable: str

    def fault(self, launchers: Sequence[LauncherRequest]) -> str | None:
        """Returns why no job can ever have these launchers; None if one can. Asks no engine."""
        ...

    def submit(self, request: JobRequest) -> str:
        """Submits a job; returns its id. Doesn't check whether the name is taken.

        Raises:
            EngineUnavailable: the job may have been submitted all the same.
            EngineRefused: the job wasn't submitted, and won't be in this form.
        """
        ...

    def cancel(self, job_id: str) -> None:
        """Cancels a job; does nothing if it has ended. Raises EngineUnavailable."""
        ...

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        """Returns the jobs that the engine still remembers whose names begin with ``prefix``.

        Raises EngineUnavailable.
        """
        ...

    def find(self, job_id: str) -> EngineJob | None:
        """Returns a job, with the id that it has in lists; None if the engine doesn't know it.

        Raises EngineUnavailable.
        """
        ...

    def silent_nodes(self, nodes: str) -> tuple[str, ...]:
        """Returns the nodes that don't answer the engine; processes may still run there.

        Raises EngineUnavailable.
        """
        ...

    def may_be_of(self, job_id: str, project: str) -> bool:
        """Returns whether a job of the list can be the project's, where projects have places of
        their own: who may make jobs in one place may give them any name.
        """
        ...

    def explain(self, job: EngineJob) -> EngineJob:
        """Returns an ended job with what the engine's lists leave out: the last line that a failed
        job wrote, or who cancelled it.

        Raises EngineUnavailable.
        """
        ...

    def run_on_node(self, program: bytes, launcher: LauncherRequest) -> str:
        """Runs a Python program on a node as one of the region's jobs; returns its output.

        Raises:
            EngineUnavailable: no node was free soon enough, or the engine doesn't answer.
            EngineRefused: the engine can't run it, or rejects it.
        """
        ...

    def node_states(self, names: Sequence[str]) -> Iterable[NodeState]:
        """Returns the states of nodes by the names that launchers have for them; leaves out nodes
        of which the engine knows nothing. Others may be among them.

        Raises EngineUnavailable.
        """
        ...

    def check(self) -> EngineReport:
        """Reports the engine's resources, and problems of it or of the settings. Never raises."""
        ...
