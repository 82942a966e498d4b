"""Allocations in which a launcher that waited serves another attempt, as the engine's thread sees
them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Iterable, Sequence

from footplate.backends.engine.attempt import Allocation, Attempt, Replica
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.engine import Engine, EngineJob, EngineUnavailable, JobPhase
from footplate.backends.engine.warm_launchers import WarmLaunchers
from footplate.domain.names import AttemptId

log = logging.getLogger(__name__)

TAKEN_S = 10.0
"""After so long a start that its waiting launcher hasn't taken goes to the engine."""
DRAIN_LOOK_S = 20.0
"""How often the engine is asked whether nodes with waiting launchers are to be emptied."""


class WarmAllocations:
    """Moves starts on that no waiting launcher has taken, and gives back what the engine needs.

    ``launchers`` are those that wait; None: the region lets none wait. Attempts may still run in
    jobs of others, from before that was set.
    """

    def __init__(
        self,
        engine: Engine,
        files: AttemptFiles,
        launchers: WarmLaunchers | None,
        monotonic: Callable[[], float],
    ) -> None:
        self._engine = engine
        self._files = files
        self._launchers = launchers
        self._monotonic = monotonic
        self._jobs: dict[AttemptId, frozenset[str]] = {}
        """The engine's jobs that attempts are bound to."""
        self._untaken: dict[tuple[AttemptId, int], float] = {}
        """Since when a start waits for the launcher that was to take it."""
        self._pending: frozenset[str] = frozenset()
        """The jobs that waited in the engine at the last look."""
        self._drain_look_s = float("-inf")

    def note(self, attempt: Attempt) -> None:
        """Remembers the jobs of an attempt that was just read."""
        self._jobs[attempt.id] = frozenset(each.job for each in attempt.allocations.values())

    def is_used(self, job: EngineJob, known: set[AttemptId]) -> bool:
        """Returns whether a job may have a launcher that serves, or waits for, another attempt than
        that of the job's name. ``known`` are all attempts.
        """
        if job.phase is not JobPhase.RUNNING:
            return False
        # One that was never read may be bound to any.
        if any(attempt not in self._jobs for attempt in known):
            return True
        waiting = () if self._launchers is None else self._launchers.waiting()
        return any(job.id == each.job for each in waiting) or any(
            job.id in jobs for jobs in self._jobs.values()
        )

    def move_untaken(
        self, attempt: Attempt, allocation: Allocation, needed: Iterable[Replica]
    ) -> None:
        """Moves a start whose launcher has left meanwhile, or is cut off, to an allocation of its
        own. Raises OSError.

        Of this and the launcher's call only one can have an effect: see ``AttemptFiles.move``.
        """
        key, untaken = (attempt.id, allocation.number), [r for r in needed if r.may_move]
        if not allocation.warm or not untaken:
            self._untaken.pop(key, None)
        elif self._monotonic() - self._untaken.setdefault(key, self._monotonic()) >= TAKEN_S:
            for replica in untaken:
                self._files.move(attempt.id, replica, max(attempt.allocations) + 1)

    def tend(self, jobs: Sequence[EngineJob]) -> None:
        """Gives jobs with waiting launchers back where the engine needs their nodes."""
        pending = frozenset(job.id for job in jobs if job.phase is JobPhase.WAITING)
        before, self._pending = self._pending, pending
        if self._launchers is None:
            return
        self._launchers.keep_only({job.id for job in jobs if job.phase is JobPhase.RUNNING})
        waiting = self._launchers.waiting()
        if pending & before:  # it may be these nodes that one of ours waits for
            self._launchers.give_back(each.job for each in waiting)
        elif waiting and self._monotonic() - self._drain_look_s >= DRAIN_LOOK_S:
            self._drain_look_s = self._monotonic()
            draining = self._find_draining({each.node for each in waiting})
            self._launchers.give_back(each.job for each in waiting if each.node in draining)

    def _find_draining(self, nodes: Iterable[str]) -> set[str]:
        try:
            states = self._engine.node_states(sorted(nodes))
        except EngineUnavailable as error:
            log.warning("%s doesn't say which nodes drain: %s", self._engine.title, error)
            return set()
        return {state.name for state in states if state.draining}

    def forget_others(self, known: Container[AttemptId]) -> None:
        self._jobs = {key: each for key, each in self._jobs.items() if key in known}
        self._untaken = {key: each for key, each in self._untaken.items() if key[0] in known}
