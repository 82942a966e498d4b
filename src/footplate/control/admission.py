"""Let queued jobs start as far as there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.decisions import apply
from footplate.domain import admission
from footplate.domain.errors import NotFound
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

    def admit(self) -> tuple[JobUid, ...]:
        """Admit what can be admitted now, and say which jobs that were."""
        chosen = admission.admit(self._store.active(), self._capacity)
        return tuple(uid for uid in chosen if self._admit(uid))

    def _admit(self, uid: JobUid) -> bool:
        try:
            apply(self._store, uid, Admitted(self._clock.now()))
        except NotFound:
            return False
        return True
