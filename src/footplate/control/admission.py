"""Let queued jobs start as far as there is room, and tell the others why they wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.decisions import apply
from footplate.domain.errors import NotFound
from footplate.domain.jobs import JobEvent
from footplate.domain.lifecycle import Admitted, WaitExpired
from footplate.domain.sites.devices import done_without

if TYPE_CHECKING:
    from footplate.control.queue import Queue
    from footplate.control.regions import Regions
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.names import JobUid
    from footplate.ports.clock import Clock
    from footplate.ports.store import Store

TELL_AT_ONCE = 20
"""Jobs that are told why they wait in one pass: what starts doesn't wait long for that."""
_FIRST_EVENTS = 50
"""Among which the reason is, if the job was told."""


class Admission:
    def __init__(
        self, store: Store, queue: Queue, regions: Regions, catalogue: Catalogue, clock: Clock
    ) -> None:
        self._store = store
        self._queue = queue
        self._regions = regions
        self._catalogue = catalogue
        self._clock = clock
        self._more = False

    def admit(self) -> bool:
        """One pass: end waits that are too long, start what may start, explain the rest.

        Returns:
            Whether anything was started.
        """
        for uid in self._queue.take_expired():
            self._expire(uid)
        chosen = self._queue.admit()
        try:
            started = [uid for uid in chosen if self._start(uid)]
        finally:
            for uid in chosen:
                self._queue.changed(uid)
        self._tell_new()
        return bool(started)

    def seconds_to_due(self) -> float | None:
        """In how many seconds another pass is due for its own sake; None: never."""
        return 0.0 if self._more else self._queue.seconds_to_due()

    def _expire(self, uid: JobUid) -> None:
        try:
            apply(self._store, uid, WaitExpired(self._clock.now()))
        except NotFound:
            return
        except BaseException:
            self._queue.changed(uid)
            raise

    def _start(self, uid: JobUid) -> bool:
        try:
            job = self._store.get_by_uid(uid)
            devices = self._queue.assign(job)
            if devices is None:
                return False
            notes = done_without(job.spec, self._catalogue, self._regions.site(job.spec.region))
            apply(self._store, uid, Admitted(self._clock.now(), devices, notes))
        except NotFound:
            return False
        return True

    def _tell_new(self) -> None:
        new = self._queue.take_new(TELL_AT_ONCE)
        self._more = len(new) == TELL_AT_ONCE
        for uid in new:
            self._tell(uid)

    def _tell(self, uid: JobUid) -> None:
        """Once: whoever takes over from a dead service finds most jobs told already."""
        told = self._store.events(uid, limit=_FIRST_EVENTS)
        if any(stored.event.kind == "WAITING" for stored in told):
            return
        try:
            why = self._queue.explain(self._store.get_by_uid(uid))
            if why is not None:
                event = JobEvent(self._clock.now(), "WAITING", why.text, key="waits")
                self._store.append(uid, (event,))
        except NotFound:
            return
