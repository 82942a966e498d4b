"""Persistent resources for tests, and a store that forgets them at its end."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.errors import Aborted, AlreadyExists, InvalidArgument, NotFound, Violation
from footplate.domain.jobs import MachineSpec
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource, ResourcePool
from footplate.ports.pages import Page
from tests.support.jobs import CREATED

if TYPE_CHECKING:
    from datetime import datetime

STANDARD = MachineSpec("n1-standard-4")
TWO_T4 = MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)


def make_resource(
    resource_id: str = "night",
    machine: MachineSpec = STANDARD,
    count: int = 2,
    *,
    at: datetime = CREATED,
    project: str = "demo",
    region: str = "us-central1",
) -> PersistentResource:
    """With one pool, and PROVISIONING."""
    return PersistentResource(
        name=PersistentResourceName(project, region, resource_id),
        uid=f"{project}{resource_id}",
        display_name="",
        request='{"resourcePools":[{}]}',
        create_time=at,
        update_time=at,
        pools=(ResourcePool("resource-pool-0", machine, count),),
    )


class MemoryResources:
    """``footplate.ports.persistent_resources.PersistentResourceStore`` in a dictionary."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: dict[PersistentResourceName, PersistentResource] = {}

    def create(self, resource: PersistentResource) -> None:
        with self._lock:
            if resource.name in self._found:
                raise AlreadyExists(f"{resource.name} already exists")
            self._found[resource.name] = resource

    def get(self, name: PersistentResourceName) -> PersistentResource:
        with self._lock:
            return self._find(name)

    def find(self, name: PersistentResourceName) -> PersistentResource | None:
        with self._lock:
            return self._found.get(name)

    def write(self, resource: PersistentResource) -> None:
        with self._lock:
            if self._find(resource.name).version != resource.version - 1:
                raise Aborted(f"{resource.name} is at another version")
            self._found[resource.name] = resource

    def delete(self, resource: PersistentResource) -> None:
        with self._lock:
            if self._find(resource.name).version != resource.version:
                raise Aborted(f"{resource.name} is at another version")
            del self._found[resource.name]

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[PersistentResource]:
        with self._lock:
            found = [each for each in self._found.values() if each.name.collection == collection]
        found.sort(key=lambda each: (each.create_time, str(each.name)), reverse=True)
        keys = [each.id for each in found]
        if after is not None and after not in keys:
            raise InvalidArgument.of((Violation("pageToken", "unknown"),))
        begin = 0 if after is None else keys.index(after) + 1
        page = tuple(found[begin : begin + limit])
        return Page(page, page[-1].id if len(found) > begin + limit else None)

    def all(self) -> tuple[PersistentResource, ...]:
        with self._lock:
            found = list(self._found.values())
        return tuple(sorted(found, key=lambda each: (each.create_time, str(each.name))))

    def _find(self, name: PersistentResourceName) -> PersistentResource:
        if name not in self._found:
            raise NotFound(f"{name} does not exist")
        return self._found[name]
