"""The transition table of jobs. Only ``react`` changes a job's state.

    react(job, event) -> (job, commands)

Both are pure. Commands aren't remembered: ``commands`` derives them from the record, so that
the next server after a crash finds the same ones; backends take each of them any number of times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, Exit, ExitKind, Job, JobEvent, Replica
from footplate.domain.lifecycle import exit_analysis, replica_losses, restarts, tuning_jobs
from footplate.domain.lifecycle.events import (
    Admitted,
    CancelRequested,
    Event,
    GraceExpired,
    HangExpired,
    JudgementDue,
    ReplicaEvent,
    ReplicaExited,
    ReplicaGone,
    ReplicaLost,
    ReplicaPreparing,
    ReplicaReady,
    ReplicaRunning,
    RunExpired,
    SearchEnds,
    StartRefused,
    TrialsBegin,
    TrialsGone,
    WaitExpired,
)

TRANSITIONS: dict[State, frozenset[State]] = {
    State.QUEUED: frozenset({State.PREPARING, State.CANCELLING, State.CANCELLED, State.FAILED}),
    State.PREPARING: frozenset({State.PREPARING, State.RUNNING, State.FAILED, State.CANCELLING}),
    State.RUNNING: frozenset({State.PREPARING, State.SUCCEEDED, State.FAILED, State.CANCELLING}),
    State.CANCELLING: frozenset({State.CANCELLED}),
    State.SUCCEEDED: frozenset(),
    State.FAILED: frozenset(),
    State.CANCELLED: frozenset(),
}
"""Where a job may go from each state. PREPARING to itself, and RUNNING to PREPARING: a retry.

Only tuning jobs and pipelines go from QUEUED to CANCELLING: of others nothing is there yet that
may run."""


@dataclass(frozen=True)
class Start:
    """Starts the replicas of the job's current attempt, except those that are to stop."""


@dataclass(frozen=True)
class Stop:
    """Stops all replicas of the job's current attempt, or only ``replicas``."""

    replicas: frozenset[str] | None = None
    """None: of all of it."""


Command = Start | Stop


@dataclass(frozen=True)
class Reaction:
    """The job after an event, the commands to execute now, and the events to record.

    ``job`` is the same object as before if the event changed nothing.
    """

    job: Job
    commands: tuple[Command, ...]
    history: tuple[JobEvent, ...] = ()


def react(job: Job, event: Event) -> Reaction:
    """Returns the job after ``event``. Late, early and repeated events change nothing."""
    after, history = _apply(job, event)
    if after is not job:
        after = replace(after, update_time=event.at, version=job.version + 1)
        history = (*history, *_left_out_events(job, after, event.at))
        if after.state is not job.state:
            after = _enter(job, after, event.at)
            history = (*history, _state_event(after, event.at))
    return Reaction(after, commands(after), history)


def _left_out_events(before: Job, after: Job, at: datetime) -> Iterator[JobEvent]:
    known = {r.name for r in before.replicas if r.judged}
    for replica in after.replicas if after.ending is None else ():
        if replica.judged and replica.name not in known:
            message = exit_analysis.goes_on_without(after, replica)
            yield JobEvent(at, "REPLICA_LEFT_OUT", message, after.attempt, replica.name)


def commands(job: Job) -> tuple[Command, ...]:
    """Returns the commands for the backend, derived from the record."""
    if job.state.terminal or job.attempt == 0:
        return ()
    stopped = to_stop(job)
    if not stopped:
        return (Start(),)
    if len(stopped) == len(job.replicas):
        return (Stop(),)
    # An evaluator that was lost before the primary's success still comes back, while all others
    # stop.
    waits = any(r.phase is Phase.WAITING and r.name not in stopped for r in job.replicas)
    return (Start(), Stop(stopped)) if waits else (Stop(stopped),)


def to_stop(job: Job) -> frozenset[str]:
    """Returns the replicas that should be ended: all, none, or all but lingering evaluators."""
    if job.ending is None and not replica_losses.is_broken(job):
        return frozenset()
    return frozenset(replica.name for replica in job.replicas) - exit_analysis.lingering(job)


Change = tuple[Job, tuple[JobEvent, ...]]
_End = ReplicaLost | ReplicaExited | ReplicaGone


def _apply(job: Job, event: Event) -> Change:
    if job.state.terminal:
        return job, ()
    if not job.spec.runs_itself:
        return tuning_jobs.apply(job, event), ()
    return _happen(job, event)


def _happen(job: Job, event: Event) -> Change:
    match event:
        case Admitted():
            return _admit(job, event)
        case (
            ReplicaPreparing()
            | ReplicaReady()
            | ReplicaRunning()
            | ReplicaLost()
            | ReplicaExited()
            | ReplicaGone()
        ):
            return _report(job, event)
        case JudgementDue():
            return (_conclude(job) if event.attempt == job.attempt else job), ()
        case GraceExpired():
            return _dismiss(job), ()
        case CancelRequested():
            return _cancel(job, event)
        case WaitExpired() | RunExpired() | HangExpired():
            return _expire(job, event)
        case StartRefused():
            return _end(job, Ending(State.FAILED, Code.FAILED_PRECONDITION, event.reason))
        case TrialsBegin() | SearchEnds() | TrialsGone():
            return job, ()
        case _:
            assert_never(event)


def _admit(job: Job, event: Admitted) -> Change:
    if job.state is not State.QUEUED:
        return job, ()
    notes = (JobEvent(event.at, "EMULATED", note, 1) for note in event.notes)
    replicas = tuple(
        Replica(name, devices=event.devices.get(name, ())) for name in job.spec.replica_names()
    )
    return restarts.next_attempt(job, replicas), tuple(notes)


def _cancel(job: Job, event: CancelRequested) -> Change:
    """Cancels the job; once its end is decided, only stops evaluators that still run."""
    if job.ending is not None:
        return _dismiss(job), ()
    return _end(job, Ending(State.CANCELLED, Code.CANCELLED, event.message))


def _dismiss(job: Job) -> Job:
    """Marks lingering replicas as overdue, so that they are stopped now."""
    lingering = exit_analysis.lingering(job)
    if not lingering:
        return job
    replicas = (replace(r, overdue=r.overdue or r.name in lingering) for r in job.replicas)
    return replace(job, replicas=tuple(replicas))


def _expire(job: Job, event: WaitExpired | RunExpired | HangExpired) -> Change:
    """Applies what follows when one of the job's time limits has passed."""
    match event:
        case WaitExpired():
            return _expire_wait(job)
        case RunExpired():
            return _expire_run(job)
        case HangExpired():
            return _expire_hang(job, event)
        case _:
            assert_never(event)


def _expire_wait(job: Job) -> Change:
    if job.state not in (State.QUEUED, State.PREPARING) or job.start_time is not None:
        return job, ()
    limit_s = job.spec.scheduling.max_wait_time_s or 0.0
    message = f"cancelled: the job did not run within its longest waiting time of {limit_s:g} s"
    return _end(job, Ending(State.CANCELLED, Code.DEADLINE_EXCEEDED, message))


def _expire_run(job: Job) -> Change:
    if job.start_time is None:
        return job, ()
    limit_s = job.spec.scheduling.max_running_time_s
    limit = Exit(ExitKind.TIME_LIMIT, cause=f"the job ran longer than its limit of {limit_s:g} s")
    return _end(job, exit_analysis.ending_of(job.primary.name, limit))


def _expire_hang(job: Job, event: HangExpired) -> Change:
    if job.state is not State.RUNNING or event.attempt != job.attempt:
        return job, ()
    return _end(job, exit_analysis.hung_verdict(job, event.limit_s))


def _end(job: Job, ending: Ending) -> Change:
    """Decides the job's end unless it is decided; a job that never started ends at once."""
    if job.ending is not None:
        return job, ()
    if job.attempt == 0:
        return replace(job, ending=ending, state=ending.state), ()
    state = State.CANCELLING if ending.state is State.CANCELLED else job.state
    return replace(job, ending=ending, state=state), ()


# Reports may be repeated and come late, so a replica only moves forward in this order, within one
# start. LOST comes before EXITED: after the death of a supervisor, what it left may still report
# how the program ended, and that decides between a restart and a success. GONE comes last, and
# keeps the exit or the loss that is recorded by then.
_ORDER = {phase: index for index, phase in enumerate(Phase)}


def _report(job: Job, event: ReplicaEvent) -> Change:
    """Moves one replica forward, never back, and applies the consequences for the job."""
    known = next((r for r in job.replicas if r.name == event.replica), None)
    if known is None or (event.attempt, event.restart) != (job.attempt, known.restart):
        return job, ()
    moved = _move(known, event, 1 + max(r.ended_as for r in job.replicas))
    if moved is known:
        return job, ()
    replicas = tuple(moved if r is known else r for r in job.replicas)
    before, job = job, replace(job, replicas=replicas)
    match event:
        case ReplicaExited():
            ran = _have_run(job, known, event)
            # An exit that the engine explains has its event already.
            told = () if known.phase is Phase.EXITED else _notify(job, moved, event)
            return _follow(_judge(ran, moved, event.exit), event, told)
        case ReplicaLost():
            return _follow(job, event, _notify(job, moved, event))
        case ReplicaGone():
            # The loss has its event already.
            news = known.phase is not Phase.LOST
            return _follow(job, event, _notify(job, moved, event) if news else ())
        case ReplicaPreparing() | ReplicaReady():
            return job, ()
        case ReplicaRunning():
            return _run(restarts.keep_echoes(before, job)), ()
        case _:
            assert_never(event)


def _move(replica: Replica, event: ReplicaEvent, place: int) -> Replica:
    """Returns the replica after an event; ``place`` is its place in the order of ends."""
    match event:
        case ReplicaPreparing():
            moved = replace(replica, phase=Phase.PREPARING)
        case ReplicaReady():
            moved = replace(replica, phase=Phase.READY, address=event.address)
        case ReplicaRunning():
            # The return of a replica disturbs its peers, too: their failures soon after are echoes
            # of it.
            upset_at = event.moment if replica.restart else None
            moved = replace(replica, phase=Phase.RUNNING, upset_at=upset_at)
        case ReplicaLost():
            moved = replace(_ended(replica, event, place), phase=Phase.LOST, loss=event.reason)
        case ReplicaExited() if replica_losses.explains(replica, event.exit):
            return replace(replica, exit=event.exit)
        case ReplicaExited():
            exited = replace(_ended(replica, event, place), loss="", exit=event.exit)
            moved = replace(exited, phase=Phase.EXITED)
        case ReplicaGone() if replica.ended_as == 0:
            moved = replace(_ended(replica, event, place), phase=Phase.GONE, loss=event.reason)
        case ReplicaGone():
            moved = replace(replica, phase=Phase.GONE)
        case _:
            assert_never(event)
    return moved if _ORDER[moved.phase] > _ORDER[replica.phase] else replica


def _ended(replica: Replica, event: ReplicaEvent, place: int) -> Replica:
    """Records the time and place of a replica's end, unless they are already recorded."""
    if replica.ended_as:
        return replica
    return replace(replica, ended_at=event.moment, ended_as=place)


def _follow(job: Job, event: _End, events: tuple[JobEvent, ...]) -> Change:
    """Applies the consequence of a judged end: a restart, a new attempt, or the job's end."""
    job, mended = restarts.restart_in_place(job, event.at)
    job, settled = _settle(job, event)
    return _run(job), (*events, *mended, *settled)


def _run(job: Job) -> Job:
    """Makes the job RUNNING once every program has started; evaluators may have ended before."""
    if job.state is not State.PREPARING or to_stop(job):
        return job
    started = all(_ORDER[r.phase] >= _ORDER[Phase.RUNNING] for r in job.replicas)
    started = started and all(r.phase is not Phase.LOST for r in job.replicas)
    return replace(job, state=State.RUNNING) if started else job


def _have_run(job: Job, replica: Replica, event: ReplicaExited) -> Job:
    """Makes the job RUNNING, at least for a moment, when a program that ran has exited.

    Reports that the others run may still be on their way, but no program starts before all replicas
    are ready. ``replica`` is the state before its exit.
    """
    ran = replica.phase is Phase.RUNNING or event.exit.success
    if not ran or job.state is not State.PREPARING or job.ending is not None:
        return job
    return replace(job, state=State.RUNNING, start_time=job.start_time or event.at)


def _judge(job: Job, replica: Replica, end: Exit) -> Job:
    """Ends the job when its primary succeeds, or when a decisive failure can't be an echo."""
    if not replica_losses.matters(job, replica) or replica_losses.is_lost(replica):
        return job
    if end.success and replica is job.primary:
        return _end(job, Ending(State.SUCCEEDED))[0]
    if not end.success and not replica_losses.may_be_echo(end):
        if exit_analysis.is_decisive(job, replica):
            return _end(job, exit_analysis.verdict(job, replica, end))[0]
        return _leave_out(job, replica)
    failure = exit_analysis.waiting_failure(job)
    return _conclude(job) if failure and exit_analysis.is_alone(job, failure) else job


def _conclude(job: Job) -> Job:
    """Judges the failures that wait: the first ends the job if any of them is decisive.

    Otherwise the job continues without the replica that failed first.
    """
    waiting = exit_analysis.waiting_failures(job)
    failure = exit_analysis.waiting_failure(job)
    if failure is None or failure.exit is None:
        return job
    if any(exit_analysis.is_decisive(job, each) for each in waiting):
        return _end(job, exit_analysis.verdict(job, failure, failure.exit))[0]
    return _leave_out(job, failure)


def _leave_out(job: Job, failure: Replica) -> Job:
    replicas = (replace(r, judged=r.judged or r is failure) for r in job.replicas)
    return replace(job, replicas=tuple(replicas))


def _notify(job: Job, replica: Replica, event: _End) -> tuple[JobEvent, ...]:
    """Returns an event for a failure in a gang; ``job`` is the state before the judgement."""
    message = exit_analysis.unexpected_end(job, replica)
    if message is None:
        return ()
    return (JobEvent(event.at, "REPLICA_FAILED", message, job.attempt, replica.name),)


def _settle(job: Job, event: _End) -> Change:
    """Ends the job, or starts another attempt, once all replicas are gone.

    A failure that still waits to be judged then ends the job, unless a loss explains it, because no
    more reports will arrive.
    """
    if any(r.phase is not Phase.GONE for r in job.replicas):
        return job, ()
    job = _conclude(job)
    if job.ending is not None:
        return replace(job, state=job.ending.state), ()
    loss = replica_losses.breaking_loss(job) or next(
        r for r in job.replicas if r.name == event.replica
    )
    return restarts.retry(job, loss, event.at)


def _enter(before: Job, after: Job, at: datetime) -> Job:
    """Checks the step against the transition table, and sets the times of the new state."""
    if after.state not in TRANSITIONS[before.state]:
        raise AssertionError(f"a job can't go from {before.state.value} to {after.state.value}")
    if after.state is State.RUNNING and after.start_time is None:
        after = replace(after, start_time=at)
    if after.state.terminal:
        after = replace(after, end_time=at)
    if after.state is State.SUCCEEDED and after.ending is not None and after.spec.runs_itself:
        after = replace(
            after, ending=replace(after.ending, message=exit_analysis.explain_success(after))
        )
    return after


def _state_event(job: Job, at: datetime) -> JobEvent:
    message = job.ending.message if job.ending and job.state.terminal else ""
    return JobEvent(at, job.state.value, message, job.attempt)
