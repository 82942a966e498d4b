"""Reconciles the backends with the records of jobs, and the records with the backends."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import assert_never

from footplate.control import backend_observation
from footplate.control.backend_observation import EngineNotes
from footplate.control.elapsed_time import as_of, seconds_since, steadied
from footplate.control.evaluations import BEHIND, POLL_S, Evaluations
from footplate.control.hang_detection import HangWatch
from footplate.control.images import Images
from footplate.control.job_updates import apply
from footplate.control.regions import Regions
from footplate.control.replica_machines import machines_of
from footplate.control.tokens import Bearer, Tokens
from footplate.control.work_queue import WorkQueue
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import DataLoss, FailedPrecondition, NotFound, Unavailable
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import (
    Command,
    Start,
    StartRefused,
    Stop,
    commands,
    exit_analysis,
    to_stop,
)
from footplate.domain.names import AttemptId, JobUid, parse_attempt_id
from footplate.ports.backend import AttemptStart, Backend, ReplicaObservation, Ticket
from footplate.ports.clock import SteadyClock
from footplate.ports.store import ACTIVE, Store

_log = logging.getLogger(__name__)

_ADMITTED = ACTIVE - {State.QUEUED}
_ENDED = frozenset({Phase.EXITED, Phase.GONE})

RETRY_S = 5.0
"""How long to wait before a backend that had no time is asked again."""


REPORT_GRACE_S = 10.0
"""How long a new server listens before it counts limits as exceeded of what still lives.

While there was no server a program may have begun, or ended, in time. Its supervisor looks for
the server every 5 seconds, and then says so.
"""


def earliest(delays: Iterable[float | None]) -> float | None:
    return min((delay for delay in delays if delay is not None), default=None)


class Reconciler:
    """Keeps the backends in line with the records of jobs, and the records with the backends.

    It stores nothing that it could not recompute: all decisions follow from the store and the
    backends' lists. Only the choice of jobs in a cycle depends on notifications, and every
    ``SWEEP_S`` a cycle processes all jobs.
    """

    def __init__(
        self,
        store: Store,
        regions: Regions,
        catalogue: Catalogue,
        clock: SteadyClock,
        tokens: Tokens,
        grace_s: float,
        hangs: HangWatch | None = None,
        work_queue: WorkQueue | None = None,
        evaluations: Evaluations | None = None,
    ) -> None:
        """Stores the dependencies.

        ``grace_s`` is the time that evaluators have after the success of the primary. ``hangs``
        checks each job that a pass processes; None: hangs aren't detected. ``evaluations`` finds
        evaluators that need more than ``grace_s``; None: all get just that.
        """
        self._evaluations = evaluations
        self._behind: dict[JobUid, float] = {}
        """How long after the end of its primary an evaluator was last seen behind."""
        self._store = store
        self._regions = regions
        self._catalogue = catalogue
        self._clock = clock
        self._tokens = tokens
        self._grace_s = grace_s
        self._hangs = hangs
        self._engine_notes = EngineNotes(store)
        self._began: datetime | None = None
        self._work_queue = WorkQueue() if work_queue is None else work_queue

    def changed(self, uid: JobUid, job: Job | None = None) -> None:
        """Notes that the job's record may have changed, or that a report has arrived.

        The next pass processes the job. May be called on any thread, and never blocks for long.
        ``job`` is the job as it was written: one that was never admitted is left to admission.
        """
        if job is None or job.attempt:
            self._work_queue.note(uid, None if job is None else job.version)

    def seen(self, attempt_id: AttemptId) -> None:
        """Notes that the backend's state of the attempt has changed; see ``changed``."""
        try:
            uid, _ = parse_attempt_id(attempt_id)
        except NotFound:  # none of ours: it is cleared away with the next look at everything
            return
        self._work_queue.note(uid)

    def refresh(self) -> None:
        """Notes that anything may have changed without a notification; see ``changed``."""
        self._work_queue.note_all()

    def reconcile(self) -> float:
        """Processes all jobs that changed or are due.

        The first pass, and another one every ``SWEEP_S``, processes all admitted jobs and all
        attempts that any backend knows. Jobs that wait in the queue are left to admission.

        Returns:
            The seconds until another pass is due without a notification.
        """
        self._began = self._began or self._clock.now()
        uids = self._work_queue.take(self._moment())
        try:
            if uids is None:
                self._sweep()
            else:
                self._visit(uids)
        except BaseException:
            # `take` has emptied the queue, and which of these jobs were processed isn't known.
            self._work_queue.note_all()
            raise
        return max(0.0, self._work_queue.next() - self._moment())

    def _moment(self) -> float:
        """Returns the current time in seconds, on a scale that doesn't jump."""
        return self._clock.steady(self._clock.now()).timestamp()

    def _sweep(self) -> None:
        """Processes all admitted jobs and all attempts of the backends."""
        self._work_queue.sweep(self._moment())
        # The backends are listed before the records are read. A job is admitted, and its record
        # written, before its attempt starts. So an attempt in these lists without an active job
        # below is not one that is just starting, and `_clear` may end it. The other way round, an
        # attempt that another leader starts between the two reads would be ended although its job
        # is active.
        seen = {
            id(backend): backend_observation.by_attempt(backend.list())
            for backend in self._regions.backends()
        }
        jobs = [job for job in self._store.active(_ADMITTED) if _runs_itself(job)]
        if self._hangs is not None:
            self._hangs.begin(jobs)
        for job in jobs:
            self._job(job, seen)
        for backend in self._regions.backends():
            self._clear(backend, seen[id(backend)])

    def _visit(self, uids: Iterable[JobUid]) -> None:
        """Processes the given jobs and their current attempts."""
        if self._hangs is not None:
            self._hangs.keep_time()
        for uid in uids:
            job = self._find(uid)
            if job is None or not job.attempt:
                self._drop(uid)
                continue
            backend = self._regions.backend(job.spec.region)
            attempts = backend_observation.by_attempt(backend.inspect(job.attempt_id))
            if job.state.terminal:
                self._drop(uid)
            else:
                self._job(job, {id(backend): attempts})
            self._clear(backend, attempts)

    def _find(self, uid: JobUid) -> Job | None:
        """Returns the job; None if it doesn't exist, can't be read, or has no replicas."""
        try:
            job = self._store.get_by_uid(uid)
        except NotFound:
            return None
        except DataLoss as error:
            _log.error("%s; the server doesn't change this job", error.message)
            return None
        return job if _runs_itself(job) else None

    def _drop(self, uid: JobUid) -> None:
        """Forgets a job of which nothing runs (any more)."""
        self._work_queue.drop(uid)
        self._engine_notes.forget(uid)
        self._behind.pop(uid, None)
        if self._hangs is not None:
            self._hangs.forget(uid)

    def _job(self, job: Job, seen: dict[int, backend_observation.AttemptDirectories]) -> None:
        """Brings one job and its current attempt as far forward as possible now."""
        backend = self._regions.backend(job.spec.region)
        attempts = seen[id(backend)]
        observations = attempts.pop(job.attempt_id, {})
        try:
            after = self._observe(job, observations)
        except NotFound:
            self._drop(job.uid)
            return
        if after.attempt != job.attempt or after.state.terminal:
            # This attempt is over, by an end or by a retry. It goes back to the attempts of no
            # active job, which `_clear` ends and forgets. The commands below are for the new
            # attempt, of which the backend has seen nothing.
            attempts[job.attempt_id] = observations
            observations = {}
        if after.state.terminal:
            # The caller clears its attempt away, and that was all the write asks for.
            self._work_queue.settle(job.uid, after.version)
            self._drop(job.uid)
            return
        due = earliest(
            (self._command(after, backend, observations), self._inspect(after, observations))
        )
        self._work_queue.put(job.uid, None if due is None else self._moment() + due)

    def _inspect(self, job: Job, observations: Mapping[str, ReplicaObservation]) -> float | None:
        try:
            return self._hangs.inspect(job, observations) if self._hangs is not None else None
        except NotFound:  # it was deleted just now
            return None

    def _observe(self, job: Job, observations: Mapping[str, ReplicaObservation]) -> Job:
        now = self._clock.now()
        patience_s = self._patience_s(observations, now)
        known = as_of(now, job, self._clock)
        self._look_at_evaluators(known, now)
        events = backend_observation.happened(
            known,
            observations,
            now,
            grace_s=self._grace_of(job),
            patience_s=patience_s,
        )
        for event in events:
            job = apply(self._store, job.uid, steadied(event, self._clock), known=job).job
        self._engine_notes.note(job, self._regions.site(job.spec.region), observations, now)
        return job

    def _look_at_evaluators(self, job: Job, now: datetime) -> None:
        """Records an evaluator that is behind: after its evaluation it has ``grace_s`` left."""
        if self._evaluations is None or not exit_analysis.lingering(job):
            return
        limit_s = self._evaluations.limit_s
        left_s = backend_observation.seconds_of_grace(job, now, limit_s)
        behind = self._evaluations.behind(job)
        if behind and left_s is not None:
            self._behind[job.uid] = limit_s - left_s
            self._notify(job.uid, BEHIND, f"{behind}; {_waits(limit_s)}", job.attempt)

    def _grace_of(self, job: Job) -> float:
        if self._evaluations is None or job.uid not in self._behind:
            return self._grace_s
        # At least two polls: a short `grace_s` must not end before the next look at the files.
        wanted_s = self._behind[job.uid] + max(self._grace_s, 2 * POLL_S)
        return max(self._grace_s, min(wanted_s, self._evaluations.limit_s))

    def _patience_s(self, observations: Mapping[str, ReplicaObservation], now: datetime) -> float:
        """Returns how many seconds supervisors of an attempt may still need to find this server."""
        if self._began is None or backend_observation.all_gone(observations):
            return 0.0
        since_s = seconds_since(self._began, now, self._clock)
        return REPORT_GRACE_S - since_s if 0.0 <= since_s < REPORT_GRACE_S else 0.0

    def _command(
        self, job: Job, backend: Backend, observations: Mapping[str, ReplicaObservation]
    ) -> float | None:
        now = self._clock.now()
        patience_s = self._patience_s(observations, now)
        known = as_of(now, job, self._clock)
        due = backend_observation.seconds_to_due(
            known, now, grace_s=self._grace_of(job), patience_s=patience_s
        )
        if due is not None and self._evaluations is not None and exit_analysis.lingering(job):
            # Files of evaluations change without a notification.
            due = min(due, POLL_S)
        delays = [self._perform(command, job, backend, observations) for command in commands(job)]
        return earliest((due, *delays))

    def _perform(
        self,
        command: Command,
        job: Job,
        backend: Backend,
        observations: Mapping[str, ReplicaObservation],
    ) -> float | None:
        """Carries out a command; returns the seconds until the job needs another look, if any."""
        match command:
            case Start():
                return (
                    self._start(job, backend)
                    if backend_observation.is_behind(job, observations)
                    else None
                )
            case Stop(replicas):
                if not _end_by_themselves(job, replicas):
                    backend.stop(job.attempt_id, _meant(job, replicas))
                return None
            case _:
                assert_never(command)

    def _start(self, job: Job, backend: Backend) -> float | None:
        ending = to_stop(job)
        machines = machines_of(job.spec, self._catalogue)
        limits = job.spec.scheduling
        limit_s = limits.max_running_time_s if limits.bounded else 0.0
        images = Images(self._store).named_by(job)
        tickets = tuple(
            Ticket(
                r.name,
                self._tokens.issue(Bearer(job.attempt_id, r.name, r.restart)),
                r.restart,
                machines[r.name],
                images.get(r.name, ""),
            )
            for r in job.replicas
            if r.name not in ending
        )
        try:
            project, labels = job.name.project, dict(job.labels)
            backend.start(
                AttemptStart(job.attempt_id, tickets, job.spec.region, limit_s, project, labels)
            )
        except Unavailable as error:
            self._notify(job.uid, "START_DELAYED", error.message, job.attempt)
            return RETRY_S
        except FailedPrecondition as error:
            apply(self._store, job.uid, StartRefused(self._clock.now(), error.message))
            return 0.0
        return None

    def _notify(self, uid: JobUid, kind: str, message: str, attempt: int) -> None:
        """Records a delay as an event, once for each attempt and reason."""
        key = f"{kind}/{attempt}/{message}"
        event = JobEvent(self._clock.now(), kind, message, attempt, key=key)
        self._store.append(uid, (event,))

    def _clear(self, backend: Backend, attempts: backend_observation.AttemptDirectories) -> None:
        """Ends and forgets attempts that belong to no active job."""
        for attempt_id, observations in attempts.items():
            if backend_observation.all_gone(observations):
                backend.forget(attempt_id)
            else:
                backend.stop(attempt_id)


def _waits(limit_s: float) -> str:
    return (
        f"the job waits for its evaluator, at most {limit_s:g} s after the end of the primary "
        "replica"
    )


def _runs_itself(job: Job) -> bool:
    """Returns whether the job has replicas, unlike tuning jobs and pipelines."""
    return job.spec.runs_itself


def _end_by_themselves(job: Job, replicas: Collection[str] | None) -> bool:
    """Returns whether all replicas have reported their end: then their supervisors exit unasked."""
    meant = (each for each in job.replicas if replicas is None or each.name in replicas)
    return all(each.phase in _ENDED for each in meant)


def _meant(job: Job, replicas: Collection[str] | None) -> dict[str, int] | None:
    """Returns the starts in the record, by replica: other servers may have begun later ones."""
    if replicas is None:
        return None
    return {each.name: each.restart for each in job.replicas if each.name in replicas}
