"""What may happen to a job. Each event bears its moment, and those of replicas their attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from footplate.domain.jobs import Address, Exit


@dataclass(frozen=True)
class Admitted:
    """The job's replicas were allotted, with ``devices`` by the names of replicas that get any.

    ``notes`` say what it gets otherwise than it asked for.
    """

    at: datetime
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplicaPreparing:
    at: datetime
    attempt: int
    replica: str


@dataclass(frozen=True)
class ReplicaReady:
    """It could start its program, and waits until all others of its gang could."""

    at: datetime
    attempt: int
    replica: str
    address: Address


@dataclass(frozen=True)
class ReplicaRunning:
    at: datetime
    attempt: int
    replica: str


@dataclass(frozen=True)
class ReplicaExited:
    """The supervisor reports the end of the program."""

    at: datetime
    attempt: int
    replica: str
    exit: Exit


@dataclass(frozen=True)
class ReplicaGone:
    """The backend confirms that nothing of the replica is left."""

    at: datetime
    attempt: int
    replica: str
    reason: str


@dataclass(frozen=True)
class JudgementDue:
    """A failure has waited long enough for the loss that it might be an echo of."""

    at: datetime
    attempt: int


@dataclass(frozen=True)
class GraceExpired:
    """The time that evaluators have after the success of the primary is over."""

    at: datetime


@dataclass(frozen=True)
class CancelRequested:
    at: datetime


@dataclass(frozen=True)
class WaitExpired:
    """The longest waiting time is over and the job was never RUNNING."""

    at: datetime


@dataclass(frozen=True)
class RunExpired:
    """The running time limit is over: for attempts whose supervisor didn't see to it itself."""

    at: datetime


@dataclass(frozen=True)
class StartRefused:
    """The backend can never start the attempt."""

    at: datetime
    reason: str


Event = (
    Admitted
    | ReplicaPreparing
    | ReplicaReady
    | ReplicaRunning
    | ReplicaExited
    | ReplicaGone
    | JudgementDue
    | GraceExpired
    | CancelRequested
    | WaitExpired
    | RunExpired
    | StartRefused
)

ReplicaEvent = ReplicaPreparing | ReplicaReady | ReplicaRunning | ReplicaExited | ReplicaGone
