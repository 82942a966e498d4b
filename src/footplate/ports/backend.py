"""The backend port: starts, stops and lists the supervisors of replicas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from footplate.domain.names import AttemptId


@dataclass(frozen=True)
class ReplicaMachine:
    """The machine that a replica asks for; 0 and empty values are unknown.

    Accelerators are those that were requested, or that the machine type includes.
    """

    machine_type: str = ""
    vcpus: int = 0
    memory_mb: int = 0
    accelerator_type: str = ""
    accelerator_count: int = 0


@dataclass(frozen=True)
class Ticket:
    """The data that a supervisor needs to find its server and to authenticate itself.

    ``token`` is valid only for this start of this replica; it must never reach the program's
    environment, nor a command line.
    """

    replica: str
    token: str
    restart: int = 0
    """Which start of the replica within the attempt it is for: 0 the first, 1 its first restart."""
    machine: ReplicaMachine = ReplicaMachine()
    """What an engine finds a machine by; the local backend has only one."""
    image: str = ""
    """The container image that the replica runs, with its digest if known; empty: it runs none."""


@dataclass(frozen=True)
class AttemptStart:
    """A request to start all supervisors of a gang or none, or later to restart some of them."""

    attempt_id: AttemptId
    tickets: tuple[Ticket, ...]
    region: str = ""
    """Whose mapping of machines holds, where a backend serves several regions."""
    run_limit_s: float = 0.0
    """How long the job's programs may run, over all attempts; 0: its request doesn't say."""
    project: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """The job's labels, of which an engine may read some."""


class Presence(Enum):
    WAITING = "WAITING"
    """Asked for, not there yet; the reason says what it waits for."""
    LIVE = "LIVE"
    """Its supervisor runs."""
    LOST = "LOST"
    """Its supervisor is dead for certain, or its machine is; what it ran may still run."""
    GONE = "GONE"
    """Its supervisor, its program and all their children are gone for certain."""


class EndCause(Enum):
    """The cause of a replica's end by its engine, as far as it decides what follows."""

    UNKNOWN = "UNKNOWN"
    """It says nothing, or what makes the end a loss, such as a node that failed."""
    CANCELLED = "CANCELLED"
    """Somebody has ended it with the engine's own means, and wants the job to be ended."""
    TIME_LIMIT = "TIME_LIMIT"
    """It reached a limit of the engine's; a further start would reach it as well."""
    PREEMPTED = "PREEMPTED"
    """The engine needed its machine, for another job or for maintenance."""
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    """It used more memory than the engine gave it."""


@dataclass(frozen=True)
class ReplicaObservation:
    """The state of one replica of an attempt, as the backend knows it."""

    attempt_id: AttemptId
    replica: str
    presence: Presence
    reason: str = ""
    restart: int = 0
    """Which start of the replica it is of: the last one that was asked for."""
    engine_id: str = ""
    """What the engine calls the job that it runs in; empty: there is no engine."""
    node: str = ""
    """The machine that it runs on, by the engine's name; empty: this one, or not known yet."""
    cause: EndCause = EndCause.UNKNOWN
    """Of a replica that is gone."""


class Backend(Protocol):
    """Runs replicas; every method may be repeated, and interrupted at any point."""

    def start(self, request: AttemptStart) -> None:
        """Requests the start of a gang; returns at once.

        Idempotent by attempt id, replica and number of restart, until the attempt is forgotten: a
        replica that is waiting, live or gone is never started again. A ticket with a higher number
        than that of the known replica restarts it in the same place, once it is gone; before that
        it does nothing.

        Raises:
            NotLeading: a server that leads since then has forgotten the attempt.
            Unavailable: not now; ask again later.
            FailedPrecondition: this backend can never start the replicas; the message says why.
        """
        ...

    def stop(self, attempt_id: AttemptId, replicas: Mapping[str, int] | None = None) -> None:
        """Requests the end of all replicas of the attempt, or only of those in ``replicas``.

        Each name comes with the number of the restart that is meant; later restarts aren't ended.
        Unknown replicas and those that are gone are ignored. A replica that hasn't started yet
        never will.
        """
        ...

    def list(self) -> tuple[ReplicaObservation, ...]:
        """Returns one observation for each replica of each attempt started and not forgotten."""
        ...

    def inspect(self, attempt_id: AttemptId) -> tuple[ReplicaObservation, ...]:
        """Returns the observations of one attempt, at a cost that doesn't depend on others."""
        ...

    def forget(self, attempt_id: AttemptId) -> None:
        """Deletes the data of an attempt whose replicas are all gone; else does nothing.

        From then on no earlier server can start it, whatever that decided before; also an attempt
        of which there are no data.
        """
        ...

    def watch(self, changed: Callable[[AttemptId], None]) -> None:
        """Makes the backend call ``changed``, on any thread, soon after an observation changed."""
        ...

    def close(self) -> None:
        """Stops watching. Started replicas keep running."""
        ...
