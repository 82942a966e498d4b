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
from footplate.domain.lifecycle import exit_analysis, restarts, tuning_jobs
from footplate.domain.lifecycle.events import (
    Admitted,
    CancelRequested,
    Event,
    GraceExpired,
    HangExpired,
    JudgementDue,
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
from footplate.domain.lifecycle.replica_reports import apply_report, conclude, end_job
from footplate.domain.lifecycle.restarts import Change

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
            why = after.ending.message if after.ending and after.state.terminal else ""
            history = (*history, JobEvent(event.at, after.state.value, why, after.attempt))
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
    stopped = exit_analysis.to_stop(job)
    if not stopped:
        return (Start(),)
    if len(stopped) == len(job.replicas):
        return (Stop(),)
    # An evaluator that was lost before the primary's success still comes back, while all others
    # stop.
    waits = any(r.phase is Phase.WAITING and r.name not in stopped for r in job.replicas)
    return (Start(), Stop(stopped)) if waits else (Stop(stopped),)


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
            return apply_report(job, event)
        case JudgementDue():
            return (conclude(job) if event.attempt == job.attempt else job), ()
        case GraceExpired():
            return _dismiss(job), ()
        case CancelRequested():
            return _cancel(job, event)
        case WaitExpired() | RunExpired() | HangExpired():
            return _expire(job, event)
        case StartRefused():
            return end_job(job, Ending(State.FAILED, Code.FAILED_PRECONDITION, event.reason))
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
    return end_job(job, Ending(State.CANCELLED, Code.CANCELLED, event.message))


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
    return end_job(job, Ending(State.CANCELLED, Code.DEADLINE_EXCEEDED, message))


def _expire_run(job: Job) -> Change:
    if job.start_time is None:
        return job, ()
    limit_s = job.spec.scheduling.max_running_time_s
    limit = Exit(ExitKind.TIME_LIMIT, cause=f"the job ran longer than its limit of {limit_s:g} s")
    return end_job(job, exit_analysis.ending_of(job.primary.name, limit))


def _expire_hang(job: Job, event: HangExpired) -> Change:
    if job.state is not State.RUNNING or event.attempt != job.attempt:
        return job, ()
    return end_job(job, exit_analysis.hung_verdict(job, event.limit_s))


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
