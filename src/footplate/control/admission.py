"""Starts queued jobs as capacity allows, and tells the other jobs why they wait."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from footplate.control.job_queue import Queue
from footplate.control.job_updates import apply
from footplate.control.regions import Regions
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import DataLoss, NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import JobEvent
from footplate.domain.lifecycle import Admitted, StartRefused, WaitExpired
from footplate.domain.names import JobUid, PersistentResourceName
from footplate.domain.sites import unlimited_here
from footplate.domain.sites.gpu_assignment import done_without
from footplate.ports.clock import Clock
from footplate.ports.store import Store

MAX_NOTIFIED_AT_ONCE = 20
"""Explanations written in one pass: starts don't wait long for them."""
_FIRST_EVENTS = 50
"""Among which the reason is, if the job was told."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Admission:
    """The pass that starts queued jobs.

    ``note_provisioned`` records that a persistent resource has its machines.
    """

    store: Store
    queue: Queue
    regions: Regions
    catalogue: Catalogue
    clock: Clock
    note_provisioned: Callable[[PersistentResourceName], None] = lambda _: None

    def admit(self) -> bool:
        """Makes one pass: ends waits that are too long, starts what may start, explains the rest.

        Returns:
            Whether anything was started.
        """
        # First, so that no job starts whose waiting time is over.
        self._each(self.queue.take_expired(), self._expire)
        started = self._each(self.queue.admit(), self._start)
        started += self._provision(self.queue.take_provisioned())
        for uid in self.queue.untold(MAX_NOTIFIED_AT_ONCE):
            self._unless_lost(uid, self._notify)
            # After the write: if that fails, the next pass tries again.
            self.queue.told(uid)
        return any(started)

    def _provision(self, names: tuple[PersistentResourceName, ...]) -> list[bool]:
        """Records resources that have their machines, so that waiting jobs may start next."""
        try:
            for name in names:
                self.note_provisioned(name)
        finally:
            if names:
                self.queue.resources_changed()
        return [True for _ in names]

    def seconds_to_due(self) -> float | None:
        """Returns the seconds until another pass is due without a change; None if none is."""
        return 0.0 if self.queue.untold(1) else self.queue.seconds_to_due()

    def _each(self, uids: tuple[JobUid, ...], do: Callable[[JobUid], bool]) -> list[bool]:
        """Calls ``do`` for each job and returns the results, False for missing and unreadable jobs.

        Even after an error the queue reads each of these jobs again: its state of them was not yet
        true, or isn't any more.
        """
        try:
            return [self._unless_lost(uid, do) for uid in uids]
        finally:
            for uid in uids:
                self.queue.changed(uid)

    def _unless_lost(self, uid: JobUid, do: Callable[[JobUid], bool]) -> bool:
        try:
            return do(uid)
        except NotFound:
            return False
        except DataLoss as error:
            _log.error("%s; the server doesn't change this job", error.message)
            return False

    def _expire(self, uid: JobUid) -> bool:
        apply(self.store, uid, WaitExpired(self.clock.now()))
        return True

    def _start(self, uid: JobUid) -> bool:
        job = self.store.get_by_uid(uid)
        site = self.regions.site(job.spec.region)
        unlimited = unlimited_here(job.spec, self.catalogue, site)
        if unlimited is not None:
            apply(self.store, uid, StartRefused(self.clock.now(), unlimited), known=job)
            return False
        devices = self.queue.assign(job)
        if devices is None:
            return False
        notes = done_without(job.spec, self.catalogue, site)
        apply(self.store, uid, Admitted(self.clock.now(), devices, notes), known=job)
        return True

    def _notify(self, uid: JobUid) -> bool:
        """Records once why a job waits.

        A new leader finds that most jobs were told before. If a job has started by now, the store
        isn't asked what it was told.
        """
        job = self.store.get_by_uid(uid)
        if job.state is State.QUEUED and not self._is_told(uid):
            why = self.queue.explain(job)
            if why is not None:
                event = JobEvent(self.clock.now(), "WAITING", why.text, key="waits")
                self.store.append(uid, (event,))
        return True

    def _is_told(self, uid: JobUid) -> bool:
        events = self.store.events(uid, limit=_FIRST_EVENTS)
        return any(stored.event.kind == "WAITING" for stored in events)
