"""Compares what the backend reports with the records of jobs. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from footplate.domain.engine_events import RUNS, SUSPENDED, WAITS
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Exit, ExitKind, Job, JobEvent, Replica
from footplate.domain.lifecycle import (
    CancelRequested,
    Event,
    GraceExpired,
    JudgementDue,
    ReplicaExited,
    ReplicaGone,
    ReplicaLost,
    RunExpired,
    WaitExpired,
    exit_analysis,
    replica_losses,
    to_stop,
)
from footplate.domain.names import AttemptId, JobUid
from footplate.domain.sites import Site
from footplate.ports.backend import EndCause, Presence, ReplicaObservation
from footplate.ports.store import Store

# Notes in a job's events what an engine says: why replicas wait, and where they run.

REPEAT_S = 600
"""A reason that comes again is noted again once in so long: engines go to and fro between some."""


class EngineNotes:
    """Records an engine's messages as events, and remembers them to write only changes."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._noted: dict[JobUid, dict[str, str]] = {}
        """The last key, by the kind and the replica of an event."""

    def note(
        self, job: Job, site: Site, seen: Mapping[str, ReplicaObservation], now: datetime
    ) -> None:
        """Records what the engine says of a job. Raises NotFound: the job was just deleted."""
        if site.engine is None or job.state.terminal:
            return
        noted = self._noted.setdefault(job.uid, {})
        fresh = []
        for event in _say(job, site.engine.title, seen, now, noted):
            place = f"{event.kind}/{event.replica}"
            if event.key is not None and noted.get(place) != event.key:
                noted[place] = event.key
                fresh.append(event)
        if fresh:
            self._store.append(job.uid, fresh)

    def forget(self, uid: JobUid) -> None:
        self._noted.pop(uid, None)


def _say(
    job: Job,
    title: str,
    seen: Mapping[str, ReplicaObservation],
    now: datetime,
    noted: Mapping[str, str],
) -> Iterator[JobEvent]:
    yield from _waits(job, seen, now)
    yield from _places(job, title, seen, now)
    yield from _suspensions(job, seen, now, noted)


_RESUMED = "the engine has resumed the replica's job"


def _suspensions(
    job: Job,
    seen: Mapping[str, ReplicaObservation],
    now: datetime,
    noted: Mapping[str, str],
) -> Iterator[JobEvent]:
    """Yields an event of each replica that the engine has suspended, or resumed since."""
    for replica in job.replicas:
        observation = seen.get(replica.name)
        if observation is None or observation.presence is not Presence.LIVE:
            continue
        said = noted.get(f"{SUSPENDED}/{replica.name}", _RESUMED)
        if observation.reason or _RESUMED not in said:
            text = observation.reason or _RESUMED
            period = int(now.timestamp() // REPEAT_S)
            key = f"{SUSPENDED}/{job.attempt}/{replica.name}/{replica.restart}/{text}/{period}"
            yield JobEvent(now, SUSPENDED, text, job.attempt, replica.name, key=key)


def _waits(job: Job, seen: Mapping[str, ReplicaObservation], now: datetime) -> Iterator[JobEvent]:
    """Yields the reason of the first waiting replica: usually all are in one engine job."""
    for replica in job.replicas:
        observation = seen.get(replica.name)
        waits = observation is not None and observation.presence is Presence.WAITING
        if observation is not None and waits and replica.phase is Phase.WAITING:
            if observation.reason:
                period = int(now.timestamp() // REPEAT_S)
                key = f"{WAITS}/{job.attempt}/{observation.reason}/{period}"
                yield JobEvent(now, WAITS, observation.reason, job.attempt, key=key)
            return


def _places(
    job: Job, title: str, seen: Mapping[str, ReplicaObservation], now: datetime
) -> Iterator[JobEvent]:
    for replica in job.replicas:
        observation = seen.get(replica.name)
        if observation is None or observation.presence is not Presence.LIVE:
            continue
        if observation.engine_id:
            on = f" on {observation.node}" if observation.node else ""
            text = f"the replica runs in job {observation.engine_id} of {title}{on}"
            key = f"{RUNS}/{job.attempt}/{replica.name}/{replica.restart}/{text}"
            yield JobEvent(now, RUNS, text, job.attempt, replica.name, key=key)


RUN_LIMIT_SLACK_S = 1.0
"""What a supervisor gets to see to the running time limit itself, and to report it."""

AttemptDirectories = dict["AttemptId", dict[str, ReplicaObservation]]
"""Observations by attempt and replica."""


def by_attempt(observations: Iterable[ReplicaObservation]) -> AttemptDirectories:
    attempts: AttemptDirectories = defaultdict(dict)
    for observation in observations:
        attempts[observation.attempt_id][observation.replica] = observation
    return dict(attempts)


def happened(
    job: Job,
    seen: Mapping[str, ReplicaObservation],
    now: datetime,
    *,
    grace_s: float,
    patience_s: float = 0.0,
) -> tuple[Event, ...]:
    """Returns the events that follow from ``seen``, the observations of the job's current attempt.

    ``grace_s`` is the time that evaluators have after the success of the primary. During the first
    ``patience_s`` no limit counts as exceeded and no failure is judged, as reports to the contrary
    may be on their way. For the same reason a loss precedes a judgement.

    A replica that has reported and that the backend doesn't know is gone. One that never reported
    and isn't known was never started: it gets no event, as it is yet to be started.
    """
    if job.state.terminal:
        return ()
    return (
        # First, because a cancel by the engine's own command also ends replicas. Seen as a loss,
        # their end would start them again.
        *_cancelled(seen, now),
        *_exceeded(job, now, patience_s),
        *_missing(job, seen, now),
        *((JudgementDue(now, job.attempt),) if _over(_judgement(job, now, patience_s)) else ()),
        *((GraceExpired(now),) if _over(seconds_of_grace(job, now, grace_s)) else ()),
    )


def _cancelled(seen: Mapping[str, ReplicaObservation], now: datetime) -> Iterator[Event]:
    """Yields the end of the job if the engine's command cancelled any replica."""
    for observation in seen.values():
        if observation.cause is EndCause.CANCELLED:
            yield CancelRequested(now, why=observation.reason)
            return


def _exceeded(job: Job, now: datetime, patience_s: float) -> Iterator[Event]:
    if _over(later(seconds_to_wait(job, now), patience_s)):
        yield WaitExpired(now)
    if _over(later(seconds_to_run(job, now), patience_s)):
        yield RunExpired(now)


_EXITS = {
    EndCause.TIME_LIMIT: ExitKind.TIME_LIMIT,
    EndCause.PREEMPTED: ExitKind.PREEMPTED,
    EndCause.OUT_OF_MEMORY: ExitKind.OUT_OF_MEMORY,
}
"""The ends that an engine knows better than the supervisor, which it has ended as well."""


def _missing(job: Job, seen: Mapping[str, ReplicaObservation], now: datetime) -> Iterator[Event]:
    ending = to_stop(job)
    for replica in job.replicas:
        observation = seen.get(replica.name)
        if observation is None:
            # A replica that waits to be started and has no observation isn't missing: `Start` is
            # still to come. If it is to stop, no start will come. It must become GONE all the
            # same, because a job ends only when all its replicas are gone.
            if replica.phase in (Phase.WAITING, Phase.GONE) and replica.name not in ending:
                continue
            yield _leave(job, replica, now, "the backend no longer has this replica")
        elif observation.restart < replica.restart:
            # The observation is of an earlier start, and its end is recorded already. It counts
            # only if the replica is to stop, for then the later start never happens.
            if replica.name in ending and observation.presence is Presence.GONE:
                yield _leave(job, replica, now, "the server did not start the replica again")
        elif observation.presence is Presence.GONE:
            if observation.cause in _EXITS:
                end = Exit(_EXITS[observation.cause], cause=observation.reason)
                yield ReplicaExited(now, job.attempt, replica.name, end, restart=replica.restart)
            yield _leave(job, replica, now, observation.reason)
        elif observation.presence is Presence.LOST:
            reason, restart = observation.reason, replica.restart
            yield ReplicaLost(now, job.attempt, replica.name, reason, restart=restart)


def _leave(job: Job, replica: Replica, now: datetime, reason: str) -> ReplicaGone:
    return ReplicaGone(now, job.attempt, replica.name, reason, restart=replica.restart)


def is_behind(job: Job, seen: Mapping[str, ReplicaObservation]) -> bool:
    """Returns whether some replica still has to be started or restarted."""
    ending = to_stop(job)
    return any(
        replica.phase is Phase.WAITING and _starts(seen.get(replica.name)) <= replica.restart
        for replica in job.replicas
        if replica.name not in ending
    )


def _starts(observation: ReplicaObservation | None) -> int:
    return 0 if observation is None else observation.restart + 1


def seconds_to_due(job: Job, now: datetime, *, grace_s: float, patience_s: float) -> float | None:
    """Returns the seconds until time alone causes an event of the job; None if nothing will."""
    due = (
        later(seconds_to_wait(job, now), patience_s),
        later(seconds_to_run(job, now), patience_s),
        _judgement(job, now, patience_s),
        seconds_of_grace(job, now, grace_s),
    )
    return min((due_s for due_s in due if due_s is not None), default=None)


def _judgement(job: Job, now: datetime, patience_s: float) -> float | None:
    return later(seconds_to_judge(job, now), patience_s)


def later(due_s: float | None, patience_s: float) -> float | None:
    return None if due_s is None else max(due_s, patience_s)


def _over(due_s: float | None) -> bool:
    return due_s is not None and due_s <= 0


def seconds_to_wait(job: Job, now: datetime) -> float | None:
    """Returns the seconds that a job may still wait for RUNNING; None: it has no limit.

    A job that was RUNNING once has waited: a restart doesn't count as waiting.
    """
    limit_s = job.spec.scheduling.max_wait_time_s
    if limit_s is None or job.start_time is not None or job.ending is not None:
        return None
    if job.state not in (State.QUEUED, State.PREPARING):
        return None
    return limit_s - (now - job.create_time).total_seconds()


def seconds_to_run(job: Job, now: datetime) -> float | None:
    """Returns the seconds that a job may still run, over all attempts; None: it isn't running.

    Its supervisors enforce the limit themselves. This is for the time when none of them can:
    between two attempts, or while they can't be reached.
    """
    if job.start_time is None or job.ending is not None or job.state.terminal:
        return None
    ran_s = (now - job.start_time).total_seconds()
    return job.spec.scheduling.max_running_time_s + RUN_LIMIT_SLACK_S - ran_s


def seconds_to_judge(job: Job, now: datetime) -> float | None:
    """Returns the seconds that a failure still waits for a loss to explain it; None: none does."""
    failure = exit_analysis.waiting_failure(job)
    return None if failure is None else _left(failure.ended_at, replica_losses.ECHO_S, now)


def seconds_of_grace(job: Job, now: datetime, grace_s: float) -> float | None:
    """Returns the seconds that evaluators may go on after the primary's end; None: none runs."""
    return _left(job.primary.ended_at, grace_s, now) if exit_analysis.lingering(job) else None


def _left(since: datetime | None, wait_s: float, now: datetime) -> float:
    """Returns the seconds left; a clock that was set back doubles them at most."""
    passed_s = wait_s if since is None else (now - since).total_seconds()
    return wait_s - passed_s if passed_s > -wait_s else 0.0


def all_gone(seen: Mapping[str, ReplicaObservation]) -> bool:
    return all(s.presence is Presence.GONE for s in seen.values())
