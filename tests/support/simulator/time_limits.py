"""That no limit of a job ends it before its time, however the clock is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import Code

if TYPE_CHECKING:
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid
    from tests.support.simulator.world import World


class Limits:
    """Measures by the time that has really passed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._seen: dict[JobUid, float] = {}
        self._started: dict[JobUid, float] = {}

    def check(self) -> None:
        """To be called before time goes on."""
        now_s = self._world.clock.passed_s
        for job in self._world.store.active():
            self._seen.setdefault(job.uid, now_s)
            if job.start_time is not None:
                self._started.setdefault(job.uid, now_s)
            if job.ending is not None and job.ending.code is Code.DEADLINE_EXCEEDED:
                self._check_ending(job, job.ending.message, now_s)

    def _check_ending(self, job: Job, message: str, now_s: float) -> None:
        limits = job.spec.scheduling
        if "longest waiting time" in message:
            waited_s = now_s - self._seen[job.uid]
            assert waited_s >= (limits.max_wait_time_s or 0.0), "it had time left to wait"
        if "ran longer than its limit" in message:
            ran_s = now_s - self._started[job.uid]
            assert ran_s >= limits.max_running_time_s, "it had time left to run"
