"""Let queued jobs start as far as there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.decisions import apply
from footplate.domain import admission
from footplate.domain.errors import NotFound
from footplate.domain.jobs import JobEvent
from footplate.domain.lifecycle import Admitted

if TYPE_CHECKING:
    from footplate.domain.names import JobUid
    from footplate.ports.clock import Clock
    from footplate.ports.store import Store


class Admission:
    """``capacity`` is the number of replicas that may run at once on this machine."""

    def __init__(self, store: Store, clock: Clock, capacity: int) -> None:
        self._store = store
        self._clock = clock
        self._capacity = capacity
        self._told: set[JobUid] = set()
        """Only saves writes: the store takes the same event once."""

    def admit(self) -> tuple[JobUid, ...]:
        """Admit what can be admitted now, and say which jobs that were.

        Each job that must wait is told why, once.
        """
        jobs = self._store.active()
        chosen = admission.admit(jobs, self._capacity)
        for job in admission.queue(jobs):
            if job.uid not in chosen and job.uid not in self._told:
                self._tell(job.uid)
        return tuple(uid for uid in chosen if self._admit(uid))

    def _tell(self, uid: JobUid) -> None:
        text = f"waits for room: at most {self._capacity} replicas run at once (max_replicas)"
        event = JobEvent(self._clock.now(), "WAITING", text, key="waiting for room")
        try:
            self._store.append(uid, (event,))
        except NotFound:
            return
        self._told.add(uid)

    def _admit(self, uid: JobUid) -> bool:
        try:
            apply(self._store, uid, Admitted(self._clock.now()))
        except NotFound:
            return False
        return True
