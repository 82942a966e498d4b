"""The status of the service."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.job_updates import apply
from footplate.domain.errors import NotFound
from footplate.domain.job_states import State
from footplate.domain.lifecycle import CancelRequested
from footplate.domain.names import JobUid
from footplate.ports.clock import Clock
from footplate.ports.store import Store


class Status:
    def __init__(self, store: Store, clock: Clock, wake: Callable[[], None]) -> None:
        self._store = store
        self._clock = clock
        self._wake = wake

    def active(self) -> dict[State, int]:
        """Returns the number of jobs in each state that isn't terminal, without runs of trials."""
        return self._store.counts()

    def trials(self) -> dict[State, int]:
        """Returns the number of runs of trials in each state that isn't terminal."""
        return self._store.counts(runs=True)

    def cancel_all(self) -> int:
        """Requests the end of every active job; returns their number, without runs of trials."""
        active = self._store.active()
        for job in active:
            self._cancel(job.uid)
        self._wake()
        return sum(job.tuning_job is None for job in active)

    def _cancel(self, uid: JobUid) -> None:
        try:
            apply(self._store, uid, CancelRequested(self._clock.now(), "footplate down"))
        except NotFound:
            return
