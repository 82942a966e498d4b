"""Persistent resources as clients see them: create, get, list, patch, reboot, delete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from footplate.control.job_queue import Queue
from footplate.control.job_updates import TRIES
from footplate.domain.admission import Explanation
from footplate.domain.admission.claims import counted_machines
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    NotFound,
    ResourceExhausted,
)
from footplate.domain.formatting import listed
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import (
    Change,
    PersistentResource,
    begin_deletion,
    begin_reboot,
    patch,
    resource_of,
)
from footplate.domain.quotas import Quotas, exceeded
from footplate.domain.resources import Amounts
from footplate.domain.sites import Site, too_large
from footplate.ports.clock import Clock
from footplate.ports.pages import Page
from footplate.ports.persistent_resources import PersistentResourceStore
from footplate.ports.store import Store


@dataclass(frozen=True, eq=False)
class PersistentResources:
    """The persistent resources; ``changed`` is called after each write."""

    store: PersistentResourceStore
    jobs: Store
    queue: Queue
    site: Callable[[str], Site]
    quotas: Callable[[], Quotas]
    catalogue: Catalogue
    clock: Clock
    changed: Callable[[], None]

    def create(self, resource: PersistentResource) -> PersistentResource:
        """Creates a resource, which then waits for its machines.

        Raises:
            FailedPrecondition: the region can never provide the machines, or an engine has them.
            ResourceExhausted: the quota of its project can never allow them.
            AlreadyExists: the region has a resource of this name.
        """
        engine = self.site(resource.name.location).engine
        if engine is not None:
            raise FailedPrecondition(
                f"region {resource.name.location} runs on {engine.title}, which gives machines "
                f"only to jobs. Reserve machines in {engine.title}, or create the resource in a "
                "region of this machine (`footplate regions list`)"
            )
        self._check_room(resource)
        try:
            self.store.create(resource)
        finally:
            # Even after an error: the write may have taken effect.
            self.changed()
        return resource

    def get(self, name: PersistentResourceName) -> PersistentResource:
        """Returns the resource of this name. Raises NotFound."""
        return self.store.get(name)

    def find(self, name: PersistentResourceName) -> PersistentResource | None:
        try:
            return self.store.get(name)
        except NotFound:
            return None

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[PersistentResource]:
        return self.store.list(collection, limit=limit, after=after)

    def used(self, name: PersistentResourceName) -> Amounts:
        """Returns how many machines of the resource jobs use, by kind."""
        return self.queue.used_of(name)

    def explain(self, name: PersistentResourceName) -> Explanation | None:
        """Explains why the resource waits for machines; None if it doesn't."""
        return self.queue.explain_resource(name)

    def patch(
        self, name: PersistentResourceName, make: Callable[[PersistentResource], Change]
    ) -> PersistentResource:
        """Changes a resource; ``make`` returns the changes to the stored one.

        Raises what ``create`` raises, and NotFound.
        """
        now = self.clock.now()

        def change(resource: PersistentResource) -> PersistentResource:
            changed = patch(resource, make(resource), now)
            self._check_room(changed)
            return changed

        return self._change(name, change)

    def reboot(self, name: PersistentResourceName) -> PersistentResource:
        """Begins a reboot.

        Raises FailedPrecondition: jobs run on the resource, or it isn't RUNNING; NotFound.
        """
        running = [job for job in jobs_on(self.jobs, name) if _holds_machines(job)]
        if running:
            names = listed([job.id for job in running], 3)
            raise FailedPrecondition(
                f"{name} runs the jobs {names}: wait for their end, or cancel them, then reboot "
                "the resource"
            )
        now = self.clock.now()
        return self._change(name, lambda resource: begin_reboot(resource, now))

    def delete(self, name: PersistentResourceName) -> PersistentResource:
        """Begins the deletion, which first cancels the resource's jobs. Raises NotFound."""
        now = self.clock.now()
        return self._change(name, lambda resource: begin_deletion(resource, now))

    def _change(
        self,
        name: PersistentResourceName,
        change: Callable[[PersistentResource], PersistentResource],
    ) -> PersistentResource:
        try:
            return change_resource(self.store, name, change)
        finally:
            self.changed()

    def _check_room(self, resource: PersistentResource) -> None:
        said = too_large(resource, self.site(resource.name.location), self.catalogue)
        if said:
            raise FailedPrecondition(f"{resource.name} can never get its machines here: {said}")
        counts = counted_machines(resource, self.catalogue)
        of = resource.name.project, resource.name.location
        sentences = exceeded(counts, *of, self.quotas())
        if sentences:
            raise ResourceExhausted(f"the persistent resource {'; '.join(sentences)}")


def jobs_on(store: Store, name: PersistentResourceName) -> tuple[Job, ...]:
    """Returns the unfinished jobs of the resource, with their tuning jobs and pipelines."""
    return tuple(job for job in store.active() if resource_of(job) == name)


def _holds_machines(job: Job) -> bool:
    return job.spec.runs_itself and job.state is not State.QUEUED


def change_resource(
    store: PersistentResourceStore,
    name: PersistentResourceName,
    change: Callable[[PersistentResource], PersistentResource],
) -> PersistentResource:
    """Changes a resource, guarded by its version; decides again after a conflict.

    Raises NotFound; Aborted: others kept writing the resource.
    """
    for _ in range(TRIES):
        before = store.get(name)
        after = change(before)
        if after is before:
            return before
        try:
            store.write(after)
        except Aborted:
            continue
        return after
    raise Aborted(f"other requests keep changing {name}; try again")
