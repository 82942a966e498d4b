"""What a listing of the backend means for the jobs that the store knows. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from footplate.domain.lifecycle import Event, ReplicaGone, RunExpired, WaitExpired
from footplate.domain.states import Phase, State
from footplate.ports.backend import Presence, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from footplate.domain.jobs import Job
    from footplate.domain.names import AttemptId

RUN_LIMIT_SLACK_S = 1.0
"""What a supervisor gets to see to the running time limit itself, and to report it."""

Attempts = dict["AttemptId", dict[str, Sighting]]
"""Sightings by attempt and replica."""


def by_attempt(sightings: Iterable[Sighting]) -> Attempts:
    attempts: Attempts = defaultdict(dict)
    for sighting in sightings:
        attempts[sighting.attempt_id][sighting.replica] = sighting
    return dict(attempts)


def happened(
    job: Job, seen: Mapping[str, Sighting], now: datetime, patience_s: float = 0.0
) -> tuple[Event, ...]:
    """The events that ``seen``, the sightings of the job's current attempt, amounts to.

    No limit counts as exceeded for ``patience_s`` yet: what would say otherwise may be on its way.

    A replica that has reported and that the backend doesn't know is gone. One that never
    reported and isn't known was never started: no event, it is yet to be started.
    """
    if job.state.terminal:
        return ()
    events: list[Event] = []
    if _over(later(seconds_to_wait(job, now), patience_s)):
        events.append(WaitExpired(now))
    if _over(later(seconds_to_run(job, now), patience_s)):
        events.append(RunExpired(now))
    for replica in job.replicas:
        sighting = seen.get(replica.name)
        if sighting is None:
            if replica.phase in (Phase.WAITING, Phase.GONE) and job.ending is None:
                continue
            reason = "the backend knows nothing of it"
            events.append(ReplicaGone(now, job.attempt, replica.name, reason))
        elif sighting.presence is Presence.GONE:
            events.append(ReplicaGone(now, job.attempt, replica.name, sighting.reason))
    return tuple(events)


def later(due_s: float | None, patience_s: float) -> float | None:
    return None if due_s is None else max(due_s, patience_s)


def _over(due_s: float | None) -> bool:
    return due_s is not None and due_s <= 0


def seconds_to_wait(job: Job, now: datetime) -> float | None:
    """How long the job may still wait for RUNNING; None: for ever, or it waits no longer, or ends.

    A job that was RUNNING once has waited: starting it again is no wait of that kind.
    """
    limit_s = job.spec.scheduling.max_wait_time_s
    if limit_s is None or job.start_time is not None or job.ending is not None:
        return None
    if job.state not in (State.QUEUED, State.PREPARING):
        return None
    return limit_s - (now - job.create_time).total_seconds()


def seconds_to_run(job: Job, now: datetime) -> float | None:
    """How long the job may still run, all its attempts together; None: it never ran, or ends.

    Its supervisors keep to the limit by themselves. This is for when none of them can: between
    two attempts, or where nothing is heard of them.
    """
    if job.start_time is None or job.ending is not None or job.state.terminal:
        return None
    ran_s = (now - job.start_time).total_seconds()
    return job.spec.scheduling.max_running_time_s + RUN_LIMIT_SLACK_S - ran_s


def all_gone(seen: Mapping[str, Sighting]) -> bool:
    return all(s.presence is Presence.GONE for s in seen.values())
