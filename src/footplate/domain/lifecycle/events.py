"""The events of a job's life cycle. Each has its time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from footplate.domain.jobs import Address, Ending, Exit


@dataclass(frozen=True)
class Admitted:
    """The job was given capacity; ``devices`` has the GPUs of the replicas that get any.

    ``notes`` say where the job gets something other than it asked for.
    """

    at: datetime
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _OfReplica:
    """An event of one replica; ``restart`` is the number of its start within the attempt."""

    at: datetime
    attempt: int
    replica: str
    restart: int = field(default=0, kw_only=True)
    steady_at: datetime | None = field(default=None, kw_only=True)
    """``at`` on a scale that doesn't jump when the clock is set; None: the clock wasn't set."""

    @property
    def moment(self) -> datetime:
        """Returns the time to use for measuring how much time lies between two events."""
        return self.steady_at or self.at


@dataclass(frozen=True)
class ReplicaPreparing(_OfReplica):
    """The replica's supervisor has started."""


@dataclass(frozen=True)
class ReplicaReady(_OfReplica):
    """The replica is ready to start its program, and waits until its whole gang is."""

    address: Address


@dataclass(frozen=True)
class ReplicaRunning(_OfReplica):
    """The replica's program runs."""


@dataclass(frozen=True)
class ReplicaExited(_OfReplica):
    """The supervisor reports the end of the program, or the engine says how it has ended it."""

    exit: Exit


@dataclass(frozen=True)
class ReplicaLost(_OfReplica):
    """The supervisor is dead. Cleanup has started and may still report the program's exit."""

    reason: str


@dataclass(frozen=True)
class ReplicaGone(_OfReplica):
    """The backend confirms that nothing is left of the replica."""

    reason: str


@dataclass(frozen=True)
class JudgementDue:
    """A failed replica has waited long enough for a loss that may have caused its failure."""

    at: datetime
    attempt: int


@dataclass(frozen=True)
class GraceExpired:
    """The time that evaluators have after the success of the primary is over."""

    at: datetime


@dataclass(frozen=True)
class CancelRequested:
    """The job is to be cancelled.

    ``by`` is the program that requests it, with its host; empty: unknown. ``why`` is the whole
    sentence if the request doesn't come from a user.
    """

    at: datetime
    by: str = ""
    why: str = ""

    @property
    def message(self) -> str:
        if self.why:
            return self.why
        return f"cancelled by request of {self.by}" if self.by else "cancelled by request"


@dataclass(frozen=True)
class WaitExpired:
    """The longest waiting time has passed, and the job never was RUNNING."""

    at: datetime


@dataclass(frozen=True)
class RunExpired:
    """The running time has passed; this ends attempts whose supervisor didn't enforce the limit."""

    at: datetime


@dataclass(frozen=True)
class HangExpired:
    """All programs of the attempt have been silent for ``limit_s``, the longest allowed time."""

    at: datetime
    attempt: int
    limit_s: float


@dataclass(frozen=True)
class StartRefused:
    """The backend can never start the attempt."""

    at: datetime
    reason: str


@dataclass(frozen=True)
class TrialsBegin:
    """The trials of a tuning job are being prepared, or, with ``running``, one of them runs.

    A pipeline's job counts like a trial. ``since`` is when the first of them began to run.
    """

    at: datetime
    running: bool
    since: datetime | None = None


@dataclass(frozen=True)
class SearchEnds:
    """The end of a tuning job is decided; some of its trials may still run."""

    at: datetime
    ending: Ending


@dataclass(frozen=True)
class TrialsGone:
    """No trial runs any more of a tuning job whose end is decided."""

    at: datetime


Event = (
    Admitted
    | ReplicaPreparing
    | ReplicaReady
    | ReplicaRunning
    | ReplicaLost
    | ReplicaExited
    | ReplicaGone
    | JudgementDue
    | GraceExpired
    | CancelRequested
    | WaitExpired
    | RunExpired
    | HangExpired
    | StartRefused
    | TrialsBegin
    | SearchEnds
    | TrialsGone
)

ReplicaEvent = (
    ReplicaPreparing | ReplicaReady | ReplicaRunning | ReplicaLost | ReplicaExited | ReplicaGone
)
