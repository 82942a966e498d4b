"""Brings the engine's jobs forward: submits, cancels, and learns of their ends."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from footplate.backends.engine.attempt import Allocation, Attempt, Content, Replica
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.engine import (
    Engine,
    EngineJob,
    EngineRefused,
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
)
from footplate.backends.engine.idle_attempts import IdleAttempts
from footplate.backends.engine.lost_nodes import LostNodeLimits, LostNodes
from footplate.backends.engine.presence import observe
from footplate.backends.engine.retries import Retries
from footplate.backends.engine.start_ends import FINAL, StartEnds, find_task
from footplate.backends.engine.warm_allocations import WarmAllocations
from footplate.backends.engine.warm_launchers import WarmLaunchers
from footplate.domain.names import AttemptId
from footplate.ports.backend import ReplicaMachine, ReplicaObservation

log = logging.getLogger(__name__)

LIMIT_SLACK_S = 1800.0
"""What a limit of the engine's leaves beyond the running time of a job: its start, which prepares
environments, and its end. So the limit of the job itself is reached first."""
ORPHAN_S = 60.0
"""How long a job of an attempt that was forgotten may take to end by itself."""
REFUSED_RETRY_S, SHORT_RETRY_S = 30.0, 3.0
"""After how long an engine is asked again that refused a job, and one that may take it now."""
SERVED_S = 60.0
"""A launcher that hasn't called for so long isn't given another start."""


class Allocations:
    """Submits engine jobs for attempts' allocations and ends starts of which nothing runs.

    ``limits`` say when a node is lost. ``settle_s``: how long processes may survive that the engine
    ended without their launcher. ``warm`` are launchers that wait for another attempt.
    """

    def __init__(
        self,
        engine: Engine,
        files: AttemptFiles,
        prefix: str,
        make_program: Callable[[Attempt, int, tuple[str, ...]], bytes],
        limits: LostNodeLimits,
        monotonic: Callable[[], float],
        settle_s: float = 0.0,
        warm: WarmLaunchers | None = None,
    ) -> None:
        self._engine = engine
        self._warm = WarmAllocations(engine, files, warm, monotonic)
        self._files = files
        self._prefix = prefix
        self._make_program = make_program
        self._served_s = min(SERVED_S, limits.wait_s / 2)
        self._lost_nodes = LostNodes(engine, files, limits, monotonic)
        self._ends = StartEnds(
            engine,
            files,
            self._lost_nodes,
            monotonic,
            settle_s=settle_s,
            forgotten_s=max(limits.wait_s, limits.lease_end_s),
        )
        self._monotonic = monotonic
        self._asked_s = 0.0
        self._jobs: tuple[EngineJob, ...] | None = None
        """None: the engine hasn't answered the last question."""
        self._by_id: dict[str, EngineJob] = {}
        self._by_name: dict[str, list[EngineJob]] = {}
        self._trouble = ""
        self._refusals: Retries[tuple[AttemptId, int]] = Retries(monotonic)
        """Why the engine takes no job, by attempt and number of the allocation."""
        self._problems: Retries[AttemptId] = Retries(monotonic)
        """What keeps the server from bringing an attempt forward."""
        self._idle = IdleAttempts(
            files.stamp,
            lambda name: tuple(self._by_name.get(name, ())),
            self._is_calling,
            monotonic,
        )
        self._orphans: dict[str, float] = {}
        self.busy = True
        """Whether the engine is to be asked again soon."""

    def close(self) -> None:
        self._lost_nodes.close()

    def fault(self, tickets: Iterable[Content]) -> str | None:
        return self._engine.fault([_launcher(ticket["replica"], ticket) for ticket in tickets])

    def observe(self, attempt: Attempt) -> tuple[ReplicaObservation, ...]:
        return tuple(self._observe(attempt, replica) for replica in attempt.replicas.values())

    def _observe(self, attempt: Attempt, replica: Replica) -> ReplicaObservation:
        allocation = attempt.allocations.get(replica.allocation)
        if allocation is None:
            return observe(attempt, replica, None, "")
        refusal = self._refusals.reason((attempt.id, allocation.number))
        trouble = self._trouble or ("" if allocation.job else refusal)
        return observe(attempt, replica, self._by_id.get(allocation.job), trouble)

    def _is_calling(self, attempt_id: AttemptId, replica: Replica) -> bool:
        """Returns whether the launcher of a replica, as it was read earlier, still calls."""
        contact = self._files.read_contact(attempt_id, replica)
        return self._lost_nodes.is_calling(attempt_id, replace(replica, contact=contact))

    def is_served(self, attempt: Attempt, replica: str) -> bool:
        """Returns whether the replica's launcher is believed to run, so that it can restart the
        replica.

        What the engine says counts more than the launcher's last call, which may be older.
        """
        known = attempt.replicas[replica]
        allocation = attempt.allocations.get(known.allocation)
        if allocation is None or allocation.ended is not None or known.claim is None:
            return False
        if known.report is None or known.report.ending:
            return False
        job = self._by_id.get(allocation.job)
        if job is not None:
            task = find_task(allocation, job, replica)
            if job.ending or job.phase is JobPhase.ENDED or task.ended or task.stuck:
                return False
        return self._lost_nodes.measure_silence(attempt.id, known) < self._served_s

    def ask(self) -> None:
        """Reads all jobs of this service from the engine, and the nodes of silent launchers."""
        self._asked_s = self._monotonic()
        self._lost_nodes.ask()
        try:
            self._jobs = self._engine.list(self._prefix)
            self._trouble = ""
        except EngineUnavailable as error:
            self._jobs = None
            self._trouble = f"waits for {self._engine.title}, which doesn't answer: {error}"
        except Exception as error:  # an answer that nobody thought of: it is asked again soon
            self._jobs = None
            trouble = f"waits for {self._engine.title}, whose answer can't be read: {error!r}"
            if trouble != self._trouble:
                log.exception("the server can't read the jobs of %s", self._engine.title)
            self._trouble = trouble
        self._by_id = {job.id: job for job in self._jobs or ()}
        self._by_name = {}
        for job in self._jobs or ():
            self._by_name.setdefault(job.name, []).append(job)

    @property
    def jobs(self) -> Mapping[str, EngineJob]:
        """Returns the jobs as the engine listed them last, by their ids."""
        return self._by_id

    @property
    def problems(self) -> tuple[str, ...]:
        """Returns why attempts aren't brought forward, besides what their replicas wait for."""
        return self._problems.reasons

    def advance_all(self, attempts: Iterable[AttemptId], *, asked: bool) -> tuple[AttemptId, ...]:
        """Advances attempts; returns those of which something may have changed.

        ``asked``: the engine was just read; ``attempts`` are all of them.
        """
        busy, known, looked_at = False, set(), []
        for attempt_id in attempts:
            if asked and self._problems.rests(attempt_id):
                known.add(attempt_id)
                continue
            # Anything may go wrong with one attempt, by a fault or by files that somebody changed:
            # the others must go on.
            try:
                if asked and self._idle.has(attempt_id, self._trouble):
                    known.add(attempt_id)
                    continue
                looked_at.append(attempt_id)
                found = self._load_and_advance(attempt_id)
                self._problems.succeed(attempt_id)
            except Exception as error:
                found = True
                text = f"the server can't bring attempt {attempt_id} forward"
                reason = f"{text}: {error!r}; its log has the details"
                if self._problems.fail(attempt_id, reason, REFUSED_RETRY_S):
                    log.exception(text)
            if found is not None:
                known.add(attempt_id)
                busy = found or busy
        if asked:
            if self._jobs is not None:
                self._cancel_orphans(known)
                self._warm.tend(self._jobs)
            runs = any(job.phase is not JobPhase.ENDED for job in self._jobs or ())
            self.busy = busy or runs or self._jobs is None
        else:
            self.busy = self.busy or busy
        return tuple(looked_at)

    def _load_and_advance(self, attempt_id: AttemptId) -> bool | None:
        """Advances an attempt; returns whether one of its replicas has yet to end, None if it is
        unknown.
        """
        stamp = self._files.stamp(attempt_id)
        attempt = self._files.load(attempt_id)
        if attempt is None:
            return None
        self._warm.note(attempt)
        found = self._advance_attempt(attempt)
        names = [self._name(attempt, each) for each in attempt.allocations.values()]
        self._idle.note(attempt, names, stamp, self._trouble)
        return found

    def _advance_attempt(self, attempt: Attempt) -> bool:
        """Advances an attempt's allocations; returns whether one of its replicas has yet to end."""
        running = []
        for allocation in attempt.allocations.values():
            needed = [r for r in attempt.served_by(allocation) if r.gone is None]
            if allocation.ended is None or needed:
                running.append((allocation, needed))
        for allocation, needed in running:
            try:
                self._advance(attempt, allocation, needed)
            except EngineUnavailable as error:
                log.warning("%s: %s", self._engine.title, error)
            except OSError as error:
                log.warning("the server can't store the state of attempt %s: %s", attempt.id, error)
        return bool(running)

    def _advance(self, attempt: Attempt, allocation: Allocation, needed: Sequence[Replica]) -> None:
        if allocation.ended is not None:  # just when they were to start again there
            for replica in needed:
                reason = allocation.ended or "the replica's job has ended"
                self._ends.end_start(attempt, replica, reason, allocation.cause)
            return
        self._warm.move_untaken(attempt, allocation, needed)
        job = self._by_id.get(allocation.job)
        if job is not None and job.suspended:
            self._ends.excuse(attempt, needed)
        self._ends.end_silent(attempt, allocation, job, needed)
        if self._jobs is None:
            return
        if not allocation.job:
            self._find_or_submit(attempt, allocation, needed)
            return
        job = job or self._engine.find(allocation.job)
        if job is None:
            self._ends.end_unknown(attempt, allocation)
        else:
            self._follow(attempt, allocation, job, needed)

    def _follow(
        self, attempt: Attempt, allocation: Allocation, job: EngineJob, needed: Sequence[Replica]
    ) -> None:
        """Does what follows from the state of the allocation's job."""
        if job.refused and needed and not _has_launcher(attempt, allocation):
            # One that only waited too long must be in the queue again while others wait there.
            rests = (SHORT_RETRY_S, SHORT_RETRY_S) if job.expired else (REFUSED_RETRY_S,)
            self._refusals.fail((attempt.id, allocation.number), job.reason, *rests)
            self._files.unbind(attempt.id, allocation.number)
            return
        if job.phase is JobPhase.RUNNING:
            self._refusals.succeed((attempt.id, allocation.number))
        self._ends.note_known(allocation.job)
        self._ends.end_tasks(attempt, allocation, job, needed)
        self._ends.end_alone(attempt, job, needed, self._asked_s)
        if job.phase is JobPhase.ENDED:
            self._ends.end_job(attempt, allocation, job, needed)
        elif (
            job.phase is JobPhase.WAITING and not needed and not _has_launcher(attempt, allocation)
        ):
            self._engine.cancel(job.id)
        self._cancel_twins(attempt, allocation, job)

    def _name(self, attempt: Attempt, allocation: Allocation) -> str:
        return f"{self._prefix}{attempt.id}.{allocation.number}"

    def _find_or_submit(
        self, attempt: Attempt, allocation: Allocation, needed: Sequence[Replica]
    ) -> None:
        """Finds the allocation's job by its name, or submits it.

        The job exists already if a server died just after submitting it. One that has ended without
        a launcher's call has run nothing: the engine refused it and kept a record, or it failed at
        once. It says nothing of the allocation, unless somebody or a limit ended it.
        """
        name = self._name(attempt, allocation)
        ours = [
            job
            for job in self._by_name.get(name, ())
            if job.phase is not JobPhase.ENDED or job.cause in FINAL
            if self._engine.may_be_of(job.id, attempt.project)
        ]
        if ours:
            running = [job for job in ours if job.phase is JobPhase.RUNNING]
            self._files.bind(attempt.id, allocation.number, (running or ours)[0].id)
            return
        if not needed:
            if not _is_being_made(attempt, allocation):
                reason = "the server ended before it submitted the job"
                self._files.end(attempt.id, allocation.number, reason)
            return
        if not self._refusals.rests((attempt.id, allocation.number)):
            self._submit(attempt, allocation, name)

    def _submit(self, attempt: Attempt, allocation: Allocation, name: str) -> None:
        replicas = attempt.replicas
        launchers = tuple(_launcher(each, replicas[each].ticket) for each in allocation.replicas)
        program = self._make_program(attempt, allocation.number, allocation.replicas)
        try:
            request = JobRequest(
                *(name, attempt.region, launchers, program, _limit_s(attempt)),
                *(attempt.project, attempt.labels),
            )
            job_id = self._engine.submit(request)
        except EngineRefused as error:
            reason = f"{self._engine.title} refuses its job: {error}"
            self._refusals.fail((attempt.id, allocation.number), reason, REFUSED_RETRY_S)
            return
        except EngineUnavailable as error:
            # It may be there: it is looked for by its name before it is submitted again.
            reason = f"waits for {self._engine.title}: {error}"
            key = attempt.id, allocation.number
            self._refusals.fail(key, reason, SHORT_RETRY_S, REFUSED_RETRY_S)
            return
        # Another server has submitted the allocation, too, and its job was bound first.
        if self._files.bind(attempt.id, allocation.number, job_id) != job_id:
            self._engine.cancel(job_id)

    def _cancel_twins(self, attempt: Attempt, allocation: Allocation, bound: EngineJob) -> None:
        """Cancels other jobs of this name, whose server didn't know of the ``bound`` one."""
        name = self._name(attempt, allocation)
        # Its id may be another one than before, if the region's settings have changed.
        ids = allocation.job, bound.id
        for job in self._by_name.get(name, ()):
            if job.id not in ids and job.phase is not JobPhase.ENDED:
                self._engine.cancel(job.id)

    def _cancel_orphans(self, known: set[AttemptId]) -> None:
        """Cancels jobs of forgotten attempts whose launchers don't leave by themselves."""
        now_s = self._monotonic()
        orphans = {}
        for job in self._jobs or ():
            attempt_id = job.name[len(self._prefix) :].rpartition(".")[0]
            if job.phase is JobPhase.ENDED or attempt_id in known:
                continue
            if self._warm.is_used(job, known):
                continue
            orphans[job.id] = self._orphans.get(job.id, now_s)
            if job.phase is JobPhase.WAITING or now_s - orphans[job.id] > ORPHAN_S:
                try:
                    self._engine.cancel(job.id)
                except EngineUnavailable as error:
                    log.warning("the server can't cancel job %s of the engine: %s", job.id, error)
                except Exception:  # an odd record of one job must not hold up all others
                    log.exception("the server can't cancel job %s of the engine", job.id)
        self._orphans = orphans
        self._warm.forget_others(known)
        self._lost_nodes.keep_only(known)
        self._ends.forget_others(known)
        self._idle.forget_others(known)
        self._problems.forget_others(lambda key: key in known)
        self._refusals.forget_others(lambda key: key[0] in known)


def _has_launcher(attempt: Attempt, allocation: Allocation) -> bool:
    """Returns whether a launcher has called; the engine may report the start only later."""
    return any(replica.claim is not None for replica in attempt.served_by(allocation))


def _is_being_made(attempt: Attempt, allocation: Allocation) -> bool:
    """Returns whether the allocation may still get its tickets from another thread."""
    return not attempt.served_by(allocation) and allocation.number == max(attempt.allocations)


def _limit_s(attempt: Attempt) -> float:
    """Returns the limit of an allocation's job; a later one has the time of the first one, too."""
    return attempt.run_limit_s + LIMIT_SLACK_S if attempt.run_limit_s else 0.0


def _launcher(replica: str, ticket: Content) -> LauncherRequest:
    machine = ReplicaMachine(**ticket.get("machine", {}))
    return LauncherRequest.on(replica, machine, str(ticket.get("image", "")))
