"""Attempts that only wait in the engine: thousands of them cost little at each look."""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass, replace

from footplate.backends.engine.attempt import Attempt
from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.domain.names import AttemptId

SAME_MOMENT_S = 1.5
"""A time longer than file systems need to tell two changes of a directory."""


@dataclass(frozen=True)
class _Idle:
    """The state of an attempt when there was nothing to do for it but to wait."""

    since_s: float
    stamp: int | None
    trouble: str
    jobs: tuple[tuple[str, tuple[EngineJob, ...]], ...]
    """The engine's jobs by their names."""


class IdleAttempts:
    """Remembers attempts that were found idle. ``stamp`` returns the time of an attempt's files,
    ``find_jobs`` the engine's jobs of a name.
    """

    def __init__(
        self,
        stamp: Callable[[AttemptId], int | None],
        find_jobs: Callable[[str], tuple[EngineJob, ...]],
        monotonic: Callable[[], float],
    ) -> None:
        self._stamp = stamp
        self._find_jobs = find_jobs
        self._monotonic = monotonic
        self._found: dict[AttemptId, _Idle] = {}

    def note(self, attempt: Attempt, names: list[str], stamp: int | None, trouble: str) -> None:
        """Remembers an attempt, whose jobs have these names, if all its replicas wait in jobs of
        the engine; forgets any other.

        ``stamp`` was taken before its files were read.
        """
        before, found = self._found.pop(attempt.id, None), None
        jobs = tuple((name, self._find_jobs(name)) for name in names)
        waits = all([job.phase for job in each] == [JobPhase.WAITING] for _, each in jobs)
        replicas = attempt.replicas.values()
        if waits and all(r.claim is None and r.gone is None and not r.stopped for r in replicas):
            found = _Idle(self._monotonic(), stamp, trouble, jobs)
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
        )

    def forget_others(self, known: Container[AttemptId]) -> None:
        self._found = {key: each for key, each in self._found.items() if key in known}
