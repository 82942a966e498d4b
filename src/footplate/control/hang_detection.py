"""Detects jobs that hang: replicas that are silent or stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Lock, Thread

from footplate.control.elapsed_time import as_of
from footplate.control.job_updates import apply
from footplate.control.tokens import Bearer
from footplate.domain.errors import ServiceError
from footplate.domain.hang_detection import (
    STOPPED_SAMPLES,
    Findings,
    Rules,
    Sign,
    examine,
    tell,
    troubles_of,
)
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import HangExpired
from footplate.domain.names import AttemptId, JobUid, parse_attempt_id
from footplate.domain.replica_records import LineRecord, Record, UsageRecord
from footplate.domain.usage import Counters, Sample
from footplate.ports.backend import Presence, ReplicaObservation
from footplate.ports.clock import SteadyClock
from footplate.ports.store import Store

HEARTBEATS = 3
"""A supervisor that is silent for so many of them is reported."""
LONGEST_GAP_S = 120.0
"""Between two looks; after a longer one this machine has slept, and everybody gets new time.

Otherwise a pass comes every 15 seconds at least (``work_queue.SWEEP_S``).
"""
_ALL = 100_000
"""More events than any job has."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class HangLimits:
    """The limits of silence, in seconds; 0: off.

    A job is ended if it has hung for ``end_s``.
    """

    usage_s: float
    heartbeat_s: float
    hang_s: float
    end_s: float = 0.0

    def rules(self, hearing_s: float) -> Rules:
        # After a change of servers supervisors are silent until they find the new one.
        silent_s = max(HEARTBEATS * self.heartbeat_s, hearing_s) if self.heartbeat_s else 0.0
        return Rules(self.usage_s, self.hang_s, silent_s)


@dataclass(frozen=True)
class _Heard:
    """The last signs of one start of a replica; ``counters`` are those of its last sample."""

    sign: Sign
    counters: Counters | None = None


class HangWatch:
    """Receives all reports, and checks each job that a cycle processes.

    Reports are kept in memory: a new server receives new ones within the time of a sample. Hangs
    that were reported are in the jobs' events. ``stacks`` describes where the programs of a job
    are; it may take some seconds. ``hearing_s`` is how long supervisors may need to find a new
    server.
    """

    def __init__(
        self,
        store: Store,
        clock: SteadyClock,
        limits: HangLimits,
        hearing_s: float,
        stacks: Callable[[Job], str],
        wake: Callable[[JobUid], None],
    ) -> None:
        """Prepares the watch; ``wake`` is called with a job that should be checked now."""
        self._store = store
        self._clock = clock
        self._rules = limits.rules(hearing_s)
        # A job isn't known to hang before `hang_s`, so it can't be ended for it sooner.
        self._end_s = max(limits.end_s, limits.hang_s) if limits.end_s else 0.0
        self._stacks = stacks
        self._wake = wake
        self._lock = Lock()
        self._heard: dict[JobUid, dict[Bearer, _Heard]] = {}
        self._told: dict[JobUid, tuple[JobEvent, ...]] = {}
        self._looked_at: datetime | None = None
        self._ending: set[AttemptId] = set()

    def receive(self, bearer: Bearer, records: Sequence[Record]) -> None:
        """Records reports of a supervisor that was authorised; may be called on any thread."""
        now = self._clock.now()
        uid, _ = parse_attempt_id(bearer.attempt_id)
        with self._lock:
            of_job = self._heard.setdefault(uid, {})
            before = of_job.get(bearer) or _Heard(Sign(now))
            heard = replace(before, sign=replace(before.sign, heard_at=now))
            for record in records:
                if isinstance(record, LineRecord):
                    heard = replace(heard, sign=replace(heard.sign, printed_at=now))
                elif isinstance(record, UsageRecord):
                    heard = _take(heard, record.sample, now)
            of_job[bearer] = heard
        if self._is_news(before.sign, heard.sign, now):
            self._wake(uid)

    def _is_news(self, before: Sign, sign: Sign, now: datetime) -> bool:
        """Returns whether a report needs attention before the next check."""
        limit_s, silent_s = self._rules.hang_s, self._rules.silent_s
        hangs = limit_s > 0 and (before.quiet_s >= limit_s) != (sign.quiet_s >= limit_s)
        back = silent_s > 0 and _passed_s(before.last_report_time, now) >= silent_s
        return hangs or back or before.stopped != sign.stopped in (0, STOPPED_SAMPLES)

    def begin(self, jobs: Iterable[Job]) -> None:
        """Begins a cycle over all jobs: forgets other jobs."""
        self.keep_time()
        uids = {job.uid for job in jobs}
        with self._lock:
            self._heard = {uid: heard for uid, heard in self._heard.items() if uid in uids}
            self._told = {uid: events for uid, events in self._told.items() if uid in uids}

    def keep_time(self) -> None:
        """Begins a pass: after a gap in the passes, silence counts from now."""
        now = self._clock.now()
        with self._lock:
            last, self._looked_at = self._looked_at, now
            if last is not None and not 0 <= (now - last).total_seconds() <= LONGEST_GAP_S:
                for of_job in self._heard.values():
                    for bearer, heard in of_job.items():
                        of_job[bearer] = replace(heard, sign=replace(heard.sign, known_at=now))

    def forget(self, uid: JobUid) -> None:
        """Forgets a job of which nothing runs (any more)."""
        with self._lock:
            self._heard.pop(uid, None)
            self._told.pop(uid, None)

    def inspect(self, job: Job, observations: Mapping[str, ReplicaObservation]) -> float | None:
        """Records a job's hang events, and ends it if it has hung for too long.

        Returns the seconds until time alone makes another check necessary.
        """
        now = self._clock.now()
        if not observations and _is_new(job):
            self._told[job.uid] = ()  # no report has arrived
        live = [name for name, s in observations.items() if s.presence is Presence.LIVE]
        signs = self._signs_of(job, live, now)
        findings = examine(as_of(now, job, self._clock), signs, live, now, self._rules)
        self._notify(job, findings, now)
        unheard = (
            self._rules.silent_s - _passed_s(s.last_report_time, now) for s in signs.values()
        )
        due = [due_s for due_s in unheard if due_s > 0]
        if self._limit_s(findings, now):
            self._begin_end(job)
        elif findings.hung_since is not None and self._end_s > 0:
            due.append(self._end_s - _passed_s(findings.hung_since, now))
        return min(due, default=None)

    def _limit_s(self, findings: Findings, now: datetime) -> float:
        """Returns the length of silence for which the job must end now; 0: it continues."""
        if findings.stuck_since is not None:
            return self._rules.hang_s
        since = findings.hung_since
        hung = since is not None and _passed_s(since, now) >= self._end_s
        return self._end_s if hung else 0.0

    def _signs_of(self, job: Job, live: Collection[str], now: datetime) -> dict[str, Sign]:
        """Returns the signs of the current starts; expects signs of live replicas from now on."""
        with self._lock:
            of_job = self._heard.pop(job.uid, {})
            kept: dict[str, tuple[Bearer, _Heard]] = {}
            for replica in job.replicas:
                bearer = Bearer(job.attempt_id, replica.name, replica.restart)
                heard = of_job.get(bearer) or (_Heard(Sign(now)) if replica.name in live else None)
                if heard is not None:
                    kept[replica.name] = bearer, heard
            if kept:
                self._heard[job.uid] = dict(kept.values())
        return {name: heard.sign for name, (_, heard) in kept.items()}

    def _notify(self, job: Job, findings: Findings, now: datetime) -> None:
        """Records events of hangs; reads earlier events from the store only once."""
        if not findings.troubles:
            return
        told = self._told.get(job.uid)
        if told is None:
            stored = self._store.events(job.uid, limit=_ALL)
            told = troubles_of(each.event for each in stored)
        fresh = tell(told, findings, job.attempt, now)
        if fresh:
            self._store.append(job.uid, fresh)
        self._told[job.uid] = (*told, *fresh)

    def _begin_end(self, job: Job) -> None:
        """Starts a thread that ends the job, since collecting stack traces takes time."""
        with self._lock:
            if job.attempt_id in self._ending:
                return
            self._ending.add(job.attempt_id)
        Thread(target=self._end, args=(job,), name="hang", daemon=True).start()

    def _end(self, job: Job) -> None:
        try:
            self.end(job)
        except ServiceError as error:
            _log.warning("job %s hangs, and can't be ended yet: %s", job.uid, error.message)
        finally:
            with self._lock:
                self._ending.discard(job.attempt_id)
            self._wake(job.uid)

    def end(self, job: Job) -> None:
        """Records where the programs of a job are; then ends the job if they are still silent."""
        stacks = self._stacks(job)
        event = JobEvent(
            self._clock.now(), "STACKS", stacks, job.attempt, key=f"STACKS/{job.attempt}"
        )
        self._store.append(job.uid, (event,))
        job, now = self._store.get_by_uid(job.uid), self._clock.now()
        live = [replica.name for replica in job.replicas]
        known = as_of(now, job, self._clock)
        findings = examine(known, self._signs_of(job, (), now), live, now, self._rules)
        limit_s = self._limit_s(findings, now)
        if limit_s:
            apply(self._store, job.uid, HangExpired(now, job.attempt, limit_s))


def _take(heard: _Heard, sample: Sample, now: datetime) -> _Heard:
    sign = replace(
        heard.sign,
        # The supervisor's clock may be ahead of this one.
        sampled_at=min(sample.time, now),
        quiet_s=sample.quiet_s,
        cpus=_cpus(heard.counters, sample.counters),
        stopped=heard.sign.stopped + 1 if sample.stopped else 0,
    )
    return _Heard(sign, sample.counters)


def _is_new(job: Job) -> bool:
    """Returns whether nothing of the job can have run yet, provided its backend doesn't know it."""
    fresh = all(each.phase is Phase.WAITING and not each.restart for each in job.replicas)
    return job.attempt == 1 and fresh


def _passed_s(since: datetime, now: datetime) -> float:
    return (now - since).total_seconds()


def _cpus(before: Counters | None, after: Counters) -> float:
    """Returns the CPUs used on average since the sample before, or the program's start."""
    start = before if before is not None and before.seconds < after.seconds else Counters()
    seconds = after.seconds - start.seconds
    used_s = (after.cpu_s or 0.0) - (start.cpu_s or 0.0)
    return max(0.0, used_s) / seconds if seconds > 0 else 0.0
