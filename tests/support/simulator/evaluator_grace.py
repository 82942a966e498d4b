"""That evaluators get their time after the success of the primary, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.job_states import State
from footplate.domain.names import parse_attempt_id
from tests.support.simulator.world import GRACE_S

if TYPE_CHECKING:
    from footplate.domain.jobs import Job, Replica
    from footplate.domain.names import JobUid
    from tests.support.simulator.supervisor import Supervisor
    from tests.support.simulator.world import World

_ROUNDING_S = 1e-6
"""Sums of seconds are off by less; clocks count no less."""


class Graces:
    def __init__(self, world: World) -> None:
        self._world = world
        self._ended: dict[JobUid, float] = {}
        """When the primary ended, by the time that has really passed."""
        self._checked: set[JobUid] = set()
        self.cancelled: set[JobUid] = set()
        """Jobs whose end somebody asked for: nothing of them need go on."""

    def check(self) -> None:
        """When a grace is over, it has lasted; to be called before time goes on."""
        for job in self._world.store.active():
            if job.ending is not None:
                self._ended.setdefault(job.uid, self._world.clock.passed_s)
            if job.uid not in self._checked and any(r.overdue for r in job.replicas):
                self._checked.add(job.uid)
                assert job.uid in self.cancelled or self._has_lasted(job), "a grace was cut short"

    def _has_lasted(self, job: Job) -> bool:
        lasted_s = self._world.clock.passed_s - self._ended[job.uid]
        return lasted_s >= GRACE_S - _ROUNDING_S

    def allow(self, supervisor: Supervisor) -> None:
        """It is told to stop."""
        uid, attempt = parse_attempt_id(supervisor.attempt_id)
        job = self._world.store.get_by_uid(uid)
        if not supervisor.evaluates or job.attempt != attempt:
            return
        if job.ending is not None and job.ending.state is State.SUCCEEDED:
            over = supervisor.ended or supervisor.lost
            assert over or _find(job, supervisor.replica).overdue, "it had time left"


def _find(job: Job, replica: str) -> Replica:
    return next(each for each in job.replicas if each.name == replica)
