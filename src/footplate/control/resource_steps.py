"""Brings persistent resources forward that are deleted or rebooted.

Every step can be the last one of this process: what is to be done follows from the records, and
doing it twice is doing it once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from footplate.control.job_updates import apply
from footplate.control.persistent_resources import change_resource, jobs_on
from footplate.domain.errors import Aborted, NotFound
from footplate.domain.lifecycle import CancelRequested
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import (
    PersistentResource,
    ResourceState,
    end_reboot,
    note_provisioned,
)
from footplate.ports.clock import Clock
from footplate.ports.persistent_resources import PersistentResourceStore
from footplate.ports.store import Store

JOBS_END_S = 1.0
"""So often it is looked whether the jobs of a resource that is deleted have ended."""
_log = logging.getLogger(__name__)


class KeptEnvironments(Protocol):
    """The cached environments of a persistent resource's jobs, which are kept for it."""

    def release(self, uid: str) -> None:
        """Allows evicting the resource's environments from now on. Raises OSError."""
        ...

    def remove(self, uid: str) -> None:
        """Removes environments that nothing uses and no other resource keeps. Raises OSError."""
        ...


@dataclass(frozen=True, eq=False)
class ResourceSteps:
    """Carries out reboots and deletions.

    ``wake`` is called when jobs should be looked at, ``changed`` after each write.
    """

    store: PersistentResourceStore
    jobs: Store
    environments: KeptEnvironments
    clock: Clock
    wake: Callable[[], None]
    changed: Callable[[], None]

    def step(self) -> float | None:
        """Takes the due steps; returns the seconds until the next, None: wait for a change."""
        waits = False
        for resource in self.store.all():
            with suppress(NotFound, Aborted):  # another server, or the next step, does it
                if resource.state is ResourceState.REBOOTING:
                    self._reboot(resource)
                elif resource.state is ResourceState.STOPPING:
                    waits |= not self._delete(resource)
        return JOBS_END_S if waits else None

    def note_provisioned(self, name: PersistentResourceName) -> None:
        """Records that a resource has all its machines; ignores one that was deleted meanwhile."""
        now = self.clock.now()
        with suppress(NotFound, Aborted):
            change_resource(self.store, name, lambda resource: note_provisioned(resource, now))

    def _reboot(self, resource: PersistentResource) -> None:
        self._try(resource, self.environments.remove)
        now = self.clock.now()
        change_resource(self.store, resource.name, lambda found: end_reboot(found, now))
        self.changed()

    def _delete(self, resource: PersistentResource) -> bool:
        """Cancels the jobs that use the resource, then deletes it; returns whether it is gone."""
        jobs = jobs_on(self.jobs, resource.name)
        for job in jobs:
            why = f"a request deletes persistent resource {resource.id}"
            with suppress(NotFound, Aborted):
                apply(self.jobs, job.uid, CancelRequested(self.clock.now(), why=why))
        if jobs:
            self.wake()
            return False
        # The marks go before the record. After a crash in between, the next step repeats this.
        # Marks without a record would keep their environments in the cache for ever.
        self._try(resource, self.environments.release)
        self.store.delete(resource)
        self.changed()
        return True

    def _try(self, resource: PersistentResource, do: Callable[[str], None]) -> None:
        try:
            do(resource.uid)
        except OSError as error:
            _log.error("the server can't remove the environments of %s: %s", resource.name, error)
