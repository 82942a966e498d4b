"""Restarts of replicas: one in place, or all of them in a new attempt.

Source of the rule: Google's documentation of restarts, as far as it goes. A replica restarts at
once, in place, under the same address, a number of times; then the whole job does, a number of
times. ``restarts_together`` makes each restart one of all replicas.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from footplate.domain.errors import Code
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Ending, Job, JobEvent, Replica
from footplate.domain.lifecycle import exit_analysis, replica_losses

Change = tuple[Job, tuple[JobEvent, ...]]


def next_attempt(job: Job, replicas: Iterable[Replica]) -> Job:
    return replace(job, state=State.PREPARING, attempt=job.attempt + 1, replicas=tuple(replicas))


def restart_in_place(job: Job, at: datetime) -> Change:
    """Restarts in place the replicas that are gone and should run again.

    Replicas whose failures are echoes wait until all lost ones are restarting: otherwise they would
    only fail again.
    """
    if job.ending is not None or replica_losses.breaking_loss(job) is not None:
        return job, ()
    job, events = _restart_lost(job, at)
    if any(_is_missing(job, replica) for replica in job.replicas):
        return job, events
    job, also_told = _restart_echoes(job, at)
    return job, (*events, *also_told)


def _is_missing(job: Job, replica: Replica) -> bool:
    """Returns whether a replica is lost but not gone yet, so that its restart is still to come."""
    return replica_losses.matters(job, replica) and replica_losses.is_lost(replica)


def _restart_lost(job: Job, at: datetime) -> Change:
    events: list[JobEvent] = []
    limit = job.spec.scheduling.max_restarts
    for replica in job.replicas:
        if (
            replica.phase is Phase.GONE
            and replica_losses.is_lost(replica)
            and replica_losses.may_restart(job, replica)
        ):
            counts = replica_losses.is_counted(job, replica)
            back = replace(_again(replica), losses=replica.losses + counts)
            number = (
                f", restart {back.losses} of {limit}" if counts else "; this counts as no restart"
            )
            how = f"only this replica starts again{number}"
            events.append(_notify(job, replica, how, at))
            # `MOST_ECHOES` is a limit between two losses.
            forgiven = (replace(r, echoes=0) for r in job.replicas)
            job = _put(replace(job, replicas=tuple(forgiven)), back)
    return job, tuple(events)


def _restart_echoes(job: Job, at: datetime) -> Change:
    events: list[JobEvent] = []
    how = (
        "the replica failed because another one did, or because of its own restart: only this "
        "replica starts again"
    )
    for replica in job.replicas:
        if replica.phase is Phase.GONE and replica_losses.is_echo(job, replica):
            events.append(_notify(job, replica, how, at))
            job = _put(job, replace(_again(replica), echoes=replica.echoes + 1))
    return job, tuple(events)


def _notify(job: Job, replica: Replica, how: str, at: datetime) -> JobEvent:
    message = f"{exit_analysis.told(replica)}; {how}"
    return JobEvent(at, "RESTART", message, job.attempt, replica.name)


def keep_echoes(before: Job, job: Job) -> Job:
    """Remembers which failures were echoes of a loss, before the lost replica restarted."""
    replicas = tuple(
        replace(r, upset_at=r.ended_at) if replica_losses.is_echo(before, r) else r
        for r in job.replicas
    )
    return replace(job, replicas=replicas)


def _again(replica: Replica) -> Replica:
    """Returns the replica as it is before its next start, with the same devices and address."""
    return Replica(
        replica.name,
        devices=replica.devices,
        address=replica.address,
        restart=replica.restart + 1,
        losses=replica.losses,
    )


def _put(job: Job, back: Replica) -> Job:
    replicas = tuple(back if r.name == back.name else r for r in job.replicas)
    return replace(job, replicas=replicas)


def _spent(job: Job) -> str:
    limits = job.spec.scheduling
    if limits.max_restarts + limits.max_retries == 0:
        return "the job allows no restart"
    return f"attempt {job.attempt} was the last that the job allows"


def retry(job: Job, loss: Replica, at: datetime) -> Change:
    """Starts a new attempt after ``loss`` has ended one, or ends the job after its last retry."""
    counts = replica_losses.is_counted(job, loss)
    counted = tuple(
        Replica(r.name, devices=r.devices, losses=r.losses + (counts and r.name == loss.name))
        for r in job.replicas
    )
    cause, limits = exit_analysis.cause_of_loss(job, loss), job.spec.scheduling
    # The losses of a replica count over all attempts of the job. If each attempt began at 0, a
    # machine that kills whatever runs on it would cost (1 + max_restarts) * (1 + max_retries)
    # starts. Only losses beyond `max_restarts` are retries: where all replicas restart together
    # (`restarts_together`), the first losses of a replica lead here as well, and count as
    # restarts.
    retries = sum(max(0, r.losses - limits.max_restarts) for r in counted)
    if retries > limits.max_retries:
        ending = Ending(State.FAILED, Code.ABORTED, f"{cause} ({_spent(job)})")
        return replace(job, ending=ending, state=State.FAILED), ()
    who = "the replica" if len(counted) == 1 else "all replicas"
    message = f"{cause}; the server starts {who} again, as attempt {job.attempt + 1}"
    return next_attempt(job, counted), (JobEvent(at, "RETRY", message, job.attempt, loss.name),)
