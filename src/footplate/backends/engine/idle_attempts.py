"""Attempts that only wait or run: thousands of them cost little at each look."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, field, replace

from footplate.backends.engine.attempt import Attempt, Replica
from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.backends.engine.presence import current_report
from footplate.domain.launchers import LauncherState
from footplate.domain.names import AttemptId

SAME_MOMENT_S = 1.5
"""A time longer than file systems need to tell two changes of a directory."""


@dataclass(frozen=True)
class _Idle:
    """The state of an attempt when there was nothing to do for it but to wait, or to listen to the
    launchers of its ``running`` replicas.
    """

    since_s: float
    stamp: int | None
    trouble: str
    jobs: tuple[tuple[str, tuple[EngineJob, ...]], ...]
    """The engine's jobs by their names."""
    running: tuple[Replica, ...] = field(compare=False)


class IdleAttempts:
    """Remembers attempts that were found idle.

    ``stamp`` returns the time of an attempt's files, ``find_jobs`` the engine's jobs of a name.
    ``is_calling`` returns whether the launcher of a replica still calls.
    """

    def __init__(
        self,
        stamp: Callable[[AttemptId], int | None],
        find_jobs: Callable[[str], tuple[EngineJob, ...]],
        is_calling: Callable[[AttemptId, Replica], bool],
        monotonic: Callable[[], float],
    ) -> None:
        self._stamp = stamp
        self._find_jobs = find_jobs
        self._is_calling = is_calling
        self._monotonic = monotonic
        self._found: dict[AttemptId, _Idle] = {}

    def note(self, attempt: Attempt, names: list[str], stamp: int | None, trouble: str) -> None:
        """Remembers an attempt, whose jobs have these names, if all its replicas wait in jobs of
        the engine, or run in them undisturbed; forgets any other.

        ``stamp`` was taken before its files were read.
        """
        before = self._found.pop(attempt.id, None)
        jobs = tuple((name, self._find_jobs(name)) for name in names)
        waits = all([job.phase for job in each] == [JobPhase.WAITING] for _, each in jobs)
        replicas = tuple(attempt.replicas.values())
        if waits and all(r.claim is None and r.gone is None and not r.stopped for r in replicas):
            replicas = ()
        elif not _runs(attempt, [job for _, each in jobs for job in each]):
            return
        found = _Idle(self._monotonic(), stamp, trouble, jobs, replicas)
        is_same = before is not None and replace(before, since_s=found.since_s) == found
        self._found[attempt.id] = before if before is not None and is_same else found

    def has(self, attempt_id: AttemptId, trouble: str) -> bool:
        """Returns whether an attempt was found idle, and nothing of it has changed.

        Two looks that found the same stamp must lie behind, since a file that is made just after
        the first may not change it.
        """
        idle = self._found.get(attempt_id)
        return (
            idle is not None
            and self._monotonic() - idle.since_s > SAME_MOMENT_S
            and idle.trouble == trouble
            and idle.stamp == self._stamp(attempt_id)
            and all(self._find_jobs(name) == jobs for name, jobs in idle.jobs)
            and all(self._is_calling(attempt_id, replica) for replica in idle.running)
        )

    def forget_others(self, known: Container[AttemptId]) -> None:
        self._found = {key: each for key, each in self._found.items() if key in known}


def _runs(attempt: Attempt, jobs: list[EngineJob]) -> bool:
    """Returns whether all replicas live in the jobs of their allocations, and none is to end."""
    allocations = attempt.allocations.values()
    return (
        [job.id for job in jobs] == [each.job for each in allocations]
        and all(each.ended is None for each in allocations)
        and all(_goes_on(job) for job in jobs)
        and all(_lives(replica) for replica in attempt.replicas.values())
    )


def _goes_on(job: EngineJob) -> bool:
    is_undisturbed = job.phase is JobPhase.RUNNING and not job.ending and not job.suspended
    return is_undisturbed and not any(task.ended or task.stuck for task in job.tasks)


def _lives(replica: Replica) -> bool:
    report = current_report(replica)
    if report is None or replica.claim is None or replica.gone is not None or replica.stopped:
        return False
    return report.state is LauncherState.LIVE and not report.ending and not report.stopping
