"""Persistent resources: machines that are reserved for jobs, and how they change. Pure.

``provisioned`` are the machines that a resource has been given, ``pools`` those that it is to
have. While it lacks some it is PROVISIONING, or UPDATING if it has run before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import FailedPrecondition, Violation
from footplate.domain.formatting import joined
from footplate.domain.jobs import Job, JobSpec, MachineSpec
from footplate.domain.machines import accelerators_of
from footplate.domain.names import PersistentResourceName
from footplate.domain.resources import Amounts, total
from footplate.domain.sites import MachinePool

Labels = tuple[tuple[str, str], ...]


class ResourceState(Enum):
    """The states of a resource, named as in aiplatform v1."""

    PROVISIONING = "PROVISIONING"
    """It waits for its machines; jobs wait for it."""
    RUNNING = "RUNNING"
    UPDATING = "UPDATING"
    """It waits for machines beside those that it has, on which jobs run."""
    REBOOTING = "REBOOTING"
    STOPPING = "STOPPING"
    """It is deleted when its jobs have ended."""


@dataclass(frozen=True)
class ResourcePool:
    """A group of identical machines; ``replica_count`` are reserved, however many are in use."""

    id: str
    machine: MachineSpec
    replica_count: int


@dataclass(frozen=True)
class PersistentResource:
    """Machines that are reserved for the jobs of a project.

    ``request`` has the other fields of the accepted resource as a JSON object. ``uid`` is an id
    made by the service, unique for ever. ``version`` counts the writes of the record.
    """

    name: PersistentResourceName
    uid: str
    display_name: str
    request: str
    create_time: datetime
    update_time: datetime
    pools: tuple[ResourcePool, ...]
    state: ResourceState = ResourceState.PROVISIONING
    labels: Labels = ()
    start_time: datetime | None = None
    provisioned: tuple[ResourcePool, ...] = ()
    version: int = 1

    @property
    def id(self) -> str:
        return self.name.resource_id

    @property
    def on_provisioned(self) -> PersistentResource:
        """Returns the resource with only the machines that it has been given so far."""
        return replace(self, pools=self.provisioned)


@dataclass(frozen=True)
class Change:
    """The fields that a patch sets, ``request`` together with ``pools``; None: unchanged."""

    display_name: str | None = None
    labels: Labels | None = None
    pools: tuple[ResourcePool, ...] | None = None
    request: str | None = None


def resource_of(job: Job) -> PersistentResourceName | None:
    """Returns the resource on whose machines a job runs; None: the job uses no resource."""
    return resource_named(job.spec, job.name.project)


def resource_named(spec: JobSpec, project: str) -> PersistentResourceName | None:
    if spec.persistent_resource is None:
        return None
    return PersistentResourceName(project, spec.region, spec.persistent_resource)


def machine_label(machine: MachineSpec, catalogue: Catalogue) -> str:
    """Returns a label that equal machines share: ``n1-standard-8 with 2 NVIDIA_TESLA_T4``."""
    accelerator, count = accelerators_of(machine, catalogue)
    if accelerator is None or count <= 0:
        return machine.machine_type
    return f"{machine.machine_type} with {count} {accelerator}"


def machines_of(pools: Sequence[MachinePool], catalogue: Catalogue) -> Amounts:
    """Returns the number of machines of each kind."""
    return total({machine_label(each.machine, catalogue): each.replica_count} for each in pools)


def misfits(
    spec: JobSpec, resource: PersistentResource, catalogue: Catalogue
) -> Iterator[Violation]:
    """Yields the reasons why a job can never run on the resource, one for each pool."""
    has, asked = machines_of(resource.pools, catalogue), machines_of(spec.pools, catalogue)
    offer = joined([f"{count} {label}" for label, count in sorted(has.items())])
    there = f"persistent resource {resource.id} has {offer}"
    for pool in spec.pools:
        at = pool.field.rpartition(".")[0]
        label = machine_label(pool.machine, catalogue)
        if label not in has:
            way_out = (
                "ask for one of the resource's machines, or create a resource with such machines"
            )
            yield Violation(f"{at}.machineSpec", f"{label} given; {there}: {way_out}")
        elif asked[label] > has[label]:
            given = f"{pool.replica_count} given, but the job needs {asked[label]} {label} in all"
            way_out = "ask for fewer, or raise replicaCount of the resource's pool"
            yield Violation(f"{at}.replicaCount", f"{given}; {there}: {way_out}")


def note_provisioned(resource: PersistentResource, at: datetime) -> PersistentResource:
    """Records that the resource has been given all its machines."""
    if resource.state not in (ResourceState.PROVISIONING, ResourceState.UPDATING):
        return resource
    return _changed(
        resource,
        at,
        state=ResourceState.RUNNING,
        provisioned=resource.pools,
        start_time=resource.start_time or at,
    )


def patch(resource: PersistentResource, change: Change, at: datetime) -> PersistentResource:
    """Applies a patch to a resource; it gives up machines at once, and waits for new ones.

    Raises FailedPrecondition: the patch changes the machines while the resource is PROVISIONING,
    REBOOTING or STOPPING, or it asks for a different kind of machine.
    """
    given = {
        name: value
        for name in ("display_name", "labels", "request")
        if (value := getattr(change, name)) is not None
    }
    if change.pools is None:
        return _changed(resource, at, **given)
    if resource.state not in (ResourceState.RUNNING, ResourceState.UPDATING):
        raise _wrong_state(resource, "updated", "RUNNING")
    if [(p.id, p.machine) for p in change.pools] != [(p.id, p.machine) for p in resource.pools]:
        raise FailedPrecondition(
            f"the pools of {resource.name} can't change, but for replicaCount and autoscalingSpec; "
            "create another resource for other machines"
        )
    pairs = zip(resource.provisioned, change.pools, strict=True)
    kept = tuple(
        replace(has, replica_count=min(has.replica_count, wanted.replica_count))
        for has, wanted in pairs
    )
    complete = kept == change.pools
    state = ResourceState.RUNNING if complete else ResourceState.UPDATING
    return _changed(resource, at, pools=change.pools, provisioned=kept, state=state, **given)


def begin_reboot(resource: PersistentResource, at: datetime) -> PersistentResource:
    """Begins a reboot. Raises FailedPrecondition: the resource isn't RUNNING."""
    if resource.state is not ResourceState.RUNNING:
        raise _wrong_state(resource, "rebooted", "RUNNING")
    return _changed(resource, at, state=ResourceState.REBOOTING)


def end_reboot(resource: PersistentResource, at: datetime) -> PersistentResource:
    if resource.state is not ResourceState.REBOOTING:
        return resource
    return _changed(resource, at, state=ResourceState.RUNNING)


def begin_deletion(resource: PersistentResource, at: datetime) -> PersistentResource:
    """Begins the deletion. Raises FailedPrecondition: the resource is REBOOTING."""
    if resource.state is ResourceState.REBOOTING:
        raise _wrong_state(resource, "deleted", "RUNNING")
    if resource.state is ResourceState.STOPPING:
        return resource
    return _changed(resource, at, state=ResourceState.STOPPING)


def _wrong_state(resource: PersistentResource, what: str, when: str) -> FailedPrecondition:
    return FailedPrecondition(
        f"{resource.name} is {resource.state.value}; only a resource that is {when} can be {what}"
    )


def _changed(resource: PersistentResource, at: datetime, **given: object) -> PersistentResource:
    version = resource.version + 1
    return replace(resource, update_time=at, version=version, **given)  # type: ignore[arg-type]  # by their names
