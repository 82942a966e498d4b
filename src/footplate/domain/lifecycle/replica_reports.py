"""Applies what is reported of a replica: the replica moves forward, and its job follows.

An end of a replica is judged first: it may decide the job's end, or be one that the job survives.
Then replicas that were lost start again; and once all are gone, the job ends or tries again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, Exit, Job, JobEvent, Replica
from footplate.domain.lifecycle import exit_analysis, replica_losses, restarts
from footplate.domain.lifecycle.events import (
    ReplicaEvent,
    ReplicaExited,
    ReplicaGone,
    ReplicaLost,
    ReplicaPreparing,
    ReplicaReady,
    ReplicaRunning,
)
from footplate.domain.lifecycle.restarts import Change

_End = ReplicaLost | ReplicaExited | ReplicaGone


def end_job(job: Job, ending: Ending) -> Change:
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


def apply_report(job: Job, event: ReplicaEvent) -> Change:
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
    if job.state is not State.PREPARING or exit_analysis.to_stop(job):
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
        return end_job(job, Ending(State.SUCCEEDED))[0]
    if not end.success and not replica_losses.may_be_echo(end):
        if exit_analysis.is_decisive(job, replica):
            return end_job(job, exit_analysis.verdict(job, replica, end))[0]
        return _leave_out(job, replica)
    failure = exit_analysis.waiting_failure(job)
    return conclude(job) if failure and exit_analysis.is_alone(job, failure) else job


def conclude(job: Job) -> Job:
    """Judges the failures that wait: the first ends the job if any of them is decisive.

    Otherwise the job continues without the replica that failed first.
    """
    waiting = exit_analysis.waiting_failures(job)
    failure = exit_analysis.waiting_failure(job)
    if failure is None or failure.exit is None:
        return job
    if any(exit_analysis.is_decisive(job, each) for each in waiting):
        return end_job(job, exit_analysis.verdict(job, failure, failure.exit))[0]
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
    job = conclude(job)
    if job.ending is not None:
        return replace(job, state=job.ending.state), ()
    loss = replica_losses.breaking_loss(job) or next(
        r for r in job.replicas if r.name == event.replica
    )
    return restarts.retry(job, loss, event.at)
