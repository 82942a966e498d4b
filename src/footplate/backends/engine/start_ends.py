"""Ends the starts of replicas of which nothing runs: by the word of engines and launchers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Sequence

from footplate.backends.engine.attempt import Allocation, Attempt, JobEnd, Replica
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.engine import (
    Engine,
    EngineJob,
    EngineTask,
    EngineUnavailable,
    JobPhase,
)
from footplate.backends.engine.lost_nodes import LostNodes
from footplate.backends.engine.presence import current_report
from footplate.domain.launchers import LauncherState
from footplate.domain.names import AttemptId
from footplate.ports.backend import EndCause

log = logging.getLogger(__name__)

ALONE_S = 10.0
"""How long an engine may take to say that it ends a job, after the first launcher has ended."""
FINAL = (EndCause.CANCELLED, EndCause.TIME_LIMIT)
"""Ends of a job of the engine after which no start of its replicas moves to another one."""


class StartEnds:
    """Writes down which starts have ended, and why.

    ``settle_s``: how long processes may survive that the engine ended without their launcher.
    ``forgotten_s``: after so long without its launchers a job that the engine doesn't know is over.
    """

    def __init__(
        self,
        engine: Engine,
        files: AttemptFiles,
        lost_nodes: LostNodes,
        monotonic: Callable[[], float],
        *,
        settle_s: float,
        forgotten_s: float,
    ) -> None:
        self._engine = engine
        self._files = files
        self._lost_nodes = lost_nodes
        self._monotonic = monotonic
        self._settle_s = settle_s
        self._forgotten_s = forgotten_s
        self._ended: dict[str, float] = {}
        """When a job was first found to be over without the word of all launchers."""
        self._alone: dict[tuple[AttemptId, str, int], float] = {}
        """When a launcher was first found to have ended, by the number of its allocation."""
        self._unknown: dict[str, float] = {}
        """Since when the engine doesn't know a job."""

    def note_known(self, job_id: str) -> None:
        self._unknown.pop(job_id, None)

    def forget_others(self, known: Container[AttemptId]) -> None:
        self._alone = {key: v for key, v in self._alone.items() if key[0] in known}

    def end_start(
        self,
        attempt: Attempt,
        replica: Replica,
        reason: str,
        cause: EndCause = EndCause.UNKNOWN,
    ) -> None:
        """Ends a start that has no process in its allocation, and never will have one.

        A start that its launcher never received hasn't begun, and moves to a new allocation. If the
        launcher waited for it in a job of another attempt, that job's end says nothing of it.
        """
        allocation = attempt.allocations.get(replica.allocation)
        is_others = allocation is not None and allocation.warm and replica.claim is None
        if not replica.may_move:
            self._files.set_gone(attempt.id, replica, reason, cause)
        elif (cause in FINAL and not is_others) or replica.stopped:
            self._files.stop(attempt.id, replica, reason, cause)
        else:
            self._files.move(attempt.id, replica, max(attempt.allocations) + 1)

    def end_tasks(
        self, attempt: Attempt, allocation: Allocation, job: EngineJob, needed: Iterable[Replica]
    ) -> None:
        """Ends replicas whose launchers have ended or can't start, in a job that may continue."""
        for replica in needed:
            task = find_task(allocation, job, replica.name)
            reason, cause = task.reason or "the replica's launcher has ended", task.cause
            if task.ended or (task.stuck and replica.may_move):
                self.end_start(attempt, replica, reason, cause)
            elif task.stuck and replica.claim is None:
                self._files.stop(attempt.id, replica, reason, cause)

    def end_alone(
        self, attempt: Attempt, job: EngineJob, needed: Iterable[Replica], asked_s: float
    ) -> None:
        """Ends replicas whose launchers ended in order while the engine still runs their job.

        The launchers report that no process is left. This waits for the engine, which may have
        ended them and then knows the reason.
        """
        for replica in needed:
            report, key = replica.report, (attempt.id, replica.name, replica.allocation)
            if report is None or not report.has_ended:
                continue
            since_s = self._alone.setdefault(key, self._monotonic())
            runs_on = job.phase is JobPhase.RUNNING and not job.ending and not job.tasks
            if runs_on and asked_s - since_s >= ALONE_S:
                reason = f"the replica's launcher on node {report.node} has ended: {report.ending}"
                self.end_start(attempt, replica, reason)

    def end_job(
        self, attempt: Attempt, allocation: Allocation, job: EngineJob, needed: Sequence[Replica]
    ) -> None:
        """Ends the replicas of a job that the engine has ended, if all nodes answered then."""
        running = [r for r in needed if not r.may_move and not self._has_ended(attempt, r)]
        is_over = not running or self._is_over(attempt, allocation, job)
        ending = [r for r in needed if is_over or r.may_move]
        if not ending and not is_over:
            return
        end = self._explain(job)
        for replica in ending:
            self.end_start(attempt, replica, end.reason, end.cause)
        if is_over:
            self._ended.pop(job.id, None)
            self._files.end(attempt.id, allocation.number, end.reason, end.cause)

    def _explain(self, job: EngineJob) -> JobEnd:
        try:
            job = self._engine.explain(job)
        except EngineUnavailable as error:
            log.warning("%s doesn't say why job %s ended: %s", self._engine.title, job.id, error)
        return JobEnd(job.reason or "the replica's job has ended", job.cause)

    def _is_over(self, attempt: Attempt, allocation: Allocation, job: EngineJob) -> bool:
        """Returns whether nothing of the job can run, according to the engine alone.

        A node that comes back may still run, for a while, a job that ended without it; its
        launchers decide then.
        """
        if allocation.silent is not None:
            return False
        if job.lost or (job.nodes and self._engine.silent_nodes(job.nodes)):
            end = self._explain(job)
            self._files.mark_silent(attempt.id, allocation.number, end.reason, end.cause)
            return False
        now_s = self._monotonic()
        return now_s - self._ended.setdefault(job.id, now_s) >= self._settle_s

    def end_unknown(self, attempt: Attempt, allocation: Allocation) -> None:
        """Ends replicas of a job that the engine has forgotten; their launchers' reports decide."""
        now_s = self._monotonic()
        since_s = self._unknown.setdefault(allocation.job, now_s)
        served = attempt.served_by(allocation)
        if now_s - since_s < self._forgotten_s:
            return
        if all(r.claim is None or self._find_death(attempt, r) for r in served):
            unknown = f"{self._engine.title} no longer has the replica's job {allocation.job}"
            end = allocation.silent or JobEnd(unknown, EndCause.UNKNOWN)
            for replica in served:
                if replica.gone is None:
                    self.end_start(attempt, replica, end.reason, end.cause)
            self._files.end(attempt.id, allocation.number, end.reason, end.cause)

    def end_silent(
        self,
        attempt: Attempt,
        allocation: Allocation,
        job: EngineJob | None,
        needed: Iterable[Replica],
    ) -> None:
        """Ends replicas with silent launchers of which nothing can run any more.

        That the launchers are silent is no cause of its own where the engine has ended their job:
        a job that somebody cancelled must not start again because a node of it was away.
        """
        for replica in needed:
            if replica.claim is None or not (reason := self._find_death(attempt, replica)):
                continue
            end = allocation.silent
            if end is None and job is not None and job.phase is JobPhase.ENDED:
                end = self._explain(job)
            if end is None:
                self.end_start(attempt, replica, reason)
            else:
                self.end_start(attempt, replica, f"{end.reason}; {reason}", end.cause)

    def excuse(self, attempt: Attempt, needed: Iterable[Replica]) -> None:
        """Counts launchers that can't call, but will, as if they had just called."""
        for replica in needed:
            self._lost_nodes.excuse(attempt.id, replica)

    def _has_ended(self, attempt: Attempt, replica: Replica) -> bool:
        """Returns whether nothing of the replica runs, by its launcher's report or silence."""
        report = current_report(replica)
        if report is not None and report.state is LauncherState.GONE:
            return True
        return replica.claim is None or self._find_death(attempt, replica) is not None

    def _find_death(self, attempt: Attempt, replica: Replica) -> str | None:
        return self._lost_nodes.find_death(attempt.id, replica)


def find_task(allocation: Allocation, job: EngineJob, replica: str) -> EngineTask:
    """Returns the engine's view of the replica's launcher."""
    tasks = dict(zip(allocation.replicas, job.tasks, strict=False))
    return tasks.get(replica, EngineTask())
