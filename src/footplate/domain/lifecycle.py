"""The life of a job: one transition table, and ``react``, which alone changes a job's state.

    react(job, event) -> (job, commands)

Both are pure. Commands aren't remembered: ``commands`` derives them from the record, so that
whoever comes after a crash finds the same ones; backends take each of them any number of times.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, assert_never

from footplate.domain.errors import Code
from footplate.domain.jobs import Address, Ending, Exit, ExitKind, Job, JobEvent, Replica
from footplate.domain.states import Phase, State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

TRANSITIONS: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.PREPARING, State.CANCELLED, State.FAILED}),
    State.PREPARING: frozenset(
        {State.PREPARING, State.RUNNING, State.SUCCEEDED, State.FAILED, State.CANCELLING}
    ),
    State.RUNNING: frozenset({State.PREPARING, State.SUCCEEDED, State.FAILED, State.CANCELLING}),
    State.CANCELLING: frozenset({State.CANCELLED}),
    State.SUCCEEDED: frozenset(),
    State.FAILED: frozenset(),
    State.CANCELLED: frozenset(),
}
"""Where a job may go from each state. PREPARING to itself, and RUNNING to PREPARING: a retry."""


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
    | CancelRequested
    | WaitExpired
    | RunExpired
    | StartRefused
)


@dataclass(frozen=True)
class Start:
    """Request the start of the job's current attempt."""


@dataclass(frozen=True)
class Stop:
    """Request the end of the job's current attempt."""


Command = Start | Stop


@dataclass(frozen=True)
class Reaction:
    """The job after an event, what is to be done now, and what to tell about it.

    ``job`` is the very same object where the event changed nothing.
    """

    job: Job
    commands: tuple[Command, ...]
    history: tuple[JobEvent, ...] = ()


def react(job: Job, event: Event) -> Reaction:
    """What ``event`` makes of ``job``. Late, early and repeated events change nothing."""
    after, history = _apply(job, event)
    if after is not job:
        after = replace(after, update_time=event.at, version=job.version + 1)
        if after.state is not job.state:
            after = _enter(job, after, event.at)
            history = (*history, _state_event(after, event.at))
    return Reaction(after, commands(after), history)


def commands(job: Job) -> tuple[Command, ...]:
    """What should be asked of the backend, as the record alone tells."""
    if job.state.terminal or job.attempt == 0:
        return ()
    if job.ending is not None or any(_lost(replica) for replica in job.replicas):
        return (Stop(),)
    return (Start(),)


def _lost(replica: Replica) -> bool:
    """Whether the attempt can't go on without it: what is left of the gang must end, too."""
    if replica.exit is None:
        return replica.phase is Phase.GONE
    return not replica.exit.success and _restartable(replica.exit)


Change = tuple[Job, tuple[JobEvent, ...]]


def _apply(job: Job, event: Event) -> Change:
    if job.state.terminal:
        return job, ()
    match event:
        case Admitted():
            return _admit(job, event)
        case (
            ReplicaPreparing() | ReplicaReady() | ReplicaRunning() | ReplicaExited() | ReplicaGone()
        ):
            return _report(job, event)
        case CancelRequested():
            return _end(job, Ending(State.CANCELLED, Code.CANCELLED, "cancelled by request"))
        case WaitExpired():
            return _expire(job)
        case RunExpired():
            return _expire_run(job)
        case StartRefused():
            return _end(job, Ending(State.FAILED, Code.FAILED_PRECONDITION, event.reason))
        case _:
            assert_never(event)


def _admit(job: Job, event: Admitted) -> Change:
    if job.state is not State.QUEUED:
        return job, ()
    notes = (JobEvent(event.at, "EMULATED", note, 1) for note in event.notes)
    return _next_attempt(job, event.devices), tuple(notes)


def _next_attempt(job: Job, devices: Mapping[str, tuple[str, ...]]) -> Job:
    replicas = tuple(
        Replica(name, devices=devices.get(name, ())) for name in job.spec.replica_names()
    )
    return replace(job, state=State.PREPARING, attempt=job.attempt + 1, replicas=replicas)


def _expire(job: Job) -> Change:
    if job.state not in (State.QUEUED, State.PREPARING) or job.start_time is not None:
        return job, ()
    limit_s = job.spec.scheduling.max_wait_time_s or 0.0
    message = f"cancelled: it was not running within its longest waiting time of {limit_s:g} s"
    return _end(job, Ending(State.CANCELLED, Code.DEADLINE_EXCEEDED, message))


def _expire_run(job: Job) -> Change:
    if job.start_time is None:
        return job, ()
    limit_s = job.spec.scheduling.max_running_time_s
    limit = Exit(ExitKind.TIME_LIMIT, cause=f"it ran longer than its limit of {limit_s:g} s")
    return _end(job, ending_of(job.primary.name, limit))


def _end(job: Job, ending: Ending) -> Change:
    """Decide the end, unless it is decided; nothing started means nothing to wait for."""
    if job.ending is not None:
        return job, ()
    if job.attempt == 0:
        return replace(job, ending=ending, state=ending.state), ()
    state = State.CANCELLING if ending.state is State.CANCELLED else job.state
    return replace(job, ending=ending, state=state), ()


ReplicaEvent = ReplicaPreparing | ReplicaReady | ReplicaRunning | ReplicaExited | ReplicaGone

_ORDER = {phase: index for index, phase in enumerate(Phase)}


def _report(job: Job, event: ReplicaEvent) -> Change:
    """Move one replica forward, never back, and see what follows for the job."""
    known = next((r for r in job.replicas if r.name == event.replica), None)
    if known is None or event.attempt != job.attempt:
        return job, ()
    moved = _move(known, event)
    if moved is known:
        return job, ()
    replicas = tuple(moved if r is known else r for r in job.replicas)
    job = replace(job, replicas=replicas)
    match event:
        case ReplicaPreparing() | ReplicaReady():
            return job, ()
        case ReplicaRunning():
            return _run(job), ()
        case ReplicaExited():
            return _judge(job, event), ()
        case ReplicaGone():
            return _settle(job, event)
        case _:
            assert_never(event)


def _move(replica: Replica, event: ReplicaEvent) -> Replica:
    match event:
        case ReplicaPreparing():
            moved = replace(replica, phase=Phase.PREPARING)
        case ReplicaReady():
            moved = replace(replica, phase=Phase.READY, address=event.address)
        case ReplicaRunning():
            moved = replace(replica, phase=Phase.RUNNING)
        case ReplicaExited():
            moved = replace(replica, phase=Phase.EXITED, exit=event.exit)
        case ReplicaGone():
            moved = replace(replica, phase=Phase.GONE)
        case _:
            assert_never(event)
    return moved if _ORDER[moved.phase] > _ORDER[replica.phase] else replica


def _run(job: Job) -> Job:
    started = all(_ORDER[r.phase] >= _ORDER[Phase.RUNNING] for r in job.replicas)
    if started and job.state is State.PREPARING and job.ending is None:
        return replace(job, state=State.RUNNING)
    return job


def _judge(job: Job, event: ReplicaExited) -> Job:
    """The primary's end is the job's; any other replica's failure is, its success isn't."""
    end, primary = event.exit, event.replica == job.primary.name
    if end.success and not primary:
        return job
    if _restartable(end):
        return job
    return _end(job, ending_of(event.replica, end))[0]


OWN_SIGNALS = frozenset({4, 5, 6, 7, 8, 11, 31})
"""ILL, TRAP, ABRT, BUS, FPE, SEGV, SYS (Linux numbers): a program brings these on itself."""


def _restartable(end: Exit) -> bool:
    """Death by a foreign signal isn't the program's own failure; all other ends are.

    A supervisor stops for whoever asks it. Where the job isn't to end, that wasn't us.
    """
    if end.kind is ExitKind.STOPPED:
        return True
    return end.kind is ExitKind.SIGNALLED and end.code not in OWN_SIGNALS


def _settle(job: Job, event: ReplicaGone) -> Change:
    """When all are gone: the decided end, or another attempt, or the end of patience."""
    if any(r.phase is not Phase.GONE for r in job.replicas):
        return job, ()
    if job.ending is not None:
        return replace(job, state=job.ending.state), ()
    return _retry(job, event)


def _retry(job: Job, event: ReplicaGone) -> Change:
    cause = next((describe(r.name, r.exit) for r in job.replicas if r.exit), "")
    cause = cause or f"replica {event.replica} was lost: {event.reason}"
    if job.attempt >= job.spec.scheduling.max_attempts:
        message = f"{cause} (attempt {job.attempt}, the last one allowed)"
        ending = Ending(State.FAILED, Code.ABORTED, message)
        return replace(job, ending=ending, state=State.FAILED), ()
    retry = JobEvent(event.at, "RETRY", f"{cause}; starting again", job.attempt, event.replica)
    devices = {replica.name: replica.devices for replica in job.replicas}
    return _next_attempt(job, devices), (retry,)


def ending_of(replica: str, end: Exit) -> Ending:
    """How a job ends whose fate is this exit of this replica."""
    match end.kind:
        case ExitKind.EXITED if end.code == 0:
            return Ending(State.SUCCEEDED)
        case ExitKind.TIME_LIMIT:
            return Ending(State.CANCELLED, Code.DEADLINE_EXCEEDED, describe(replica, end))
        case ExitKind.OUT_OF_MEMORY:
            return Ending(State.FAILED, Code.RESOURCE_EXHAUSTED, describe(replica, end))
        case ExitKind.UNPREPARED:
            return Ending(State.FAILED, Code.FAILED_PRECONDITION, describe(replica, end))
        case ExitKind.EXITED | ExitKind.SIGNALLED | ExitKind.STOPPED:
            return Ending(State.FAILED, Code.UNKNOWN, describe(replica, end))
        case _:
            assert_never(end.kind)


def describe(replica: str, end: Exit) -> str:
    """The end of a replica's program in one sentence."""
    because = f": {end.cause}" if end.cause else ""
    match end.kind:
        case ExitKind.EXITED:
            return f"replica {replica} exited with code {end.code}{because}"
        case ExitKind.SIGNALLED:
            return f"replica {replica} was killed by signal {end.code}{because}"
        case ExitKind.UNPREPARED:
            return f"replica {replica} could not be prepared{because}"
        case ExitKind.TIME_LIMIT:
            return f"cancelled at the running time limit of the job{because}"
        case ExitKind.OUT_OF_MEMORY:
            return f"replica {replica} was killed for want of memory{because}"
        case ExitKind.STOPPED:
            return f"replica {replica} was stopped{because}"
        case _:
            assert_never(end.kind)


def _enter(before: Job, after: Job, at: datetime) -> Job:
    """Check the step against the table, and note the times that belong to the new state."""
    if after.state not in TRANSITIONS[before.state]:
        raise AssertionError(f"no way from {before.state.value} to {after.state.value}")
    if after.state is State.RUNNING and after.start_time is None:
        after = replace(after, start_time=at)
    if after.state.terminal:
        after = replace(after, end_time=at)
    return after


def _state_event(job: Job, at: datetime) -> JobEvent:
    message = job.ending.message if job.ending and job.state.terminal else ""
    return JobEvent(at, job.state.value, message, job.attempt)
