"""Resources of metadata stores and TensorBoards: create, read, change, delete."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress

from footplate.control.job_updates import TRIES
from footplate.control.jobs import Ids
from footplate.domain.errors import Aborted, AlreadyExists
from footplate.domain.filters import Comparator
from footplate.domain.tracking.filters import Equals, Filter
from footplate.domain.tracking.names import STORES, TENSORBOARDS, TrackingName, blob_bucket
from footplate.domain.tracking.resources import (
    DEFAULT,
    Fields,
    Resource,
    change_fields,
    check_etag,
)
from footplate.ports.buckets import Buckets
from footplate.ports.clock import Clock
from footplate.ports.pages import Page
from footplate.ports.tracking import TrackingStore

DEFAULT_STORE = "default"
_DEFAULTS = 10
"""The most to look at: a location has one default TensorBoard at most."""


class Resources:
    def __init__(
        self, store: TrackingStore, clock: Clock, ids: Ids, buckets: Buckets | None = None
    ) -> None:
        """Stores the dependencies; ``buckets`` hold the blobs of TensorBoards.

        Only the creation of TensorBoards needs them.
        """
        self._buckets = buckets
        self._store = store
        self._clock = clock
        self._ids = ids

    def new_id(self) -> str:
        """Returns an id for a resource to which the client gives none."""
        return str(self._ids.number())

    def create(self, name: TrackingName, fields: Fields) -> Resource:
        """Creates a resource; a default metadata store is created with the first resource in it.

        Raises AlreadyExists; NotFound: the containing resource doesn't exist.
        """
        return self.create_all(((name, fields),))[0]

    def create_all(self, asked: Sequence[tuple[TrackingName, Fields]]) -> tuple[Resource, ...]:
        """Creates all resources or none. Raises what ``create`` raises."""
        new = tuple(self._new(name, fields) for name, fields in asked)
        for name, _ in asked:
            if name.kind == TENSORBOARDS and self._buckets is not None:
                _make_bucket(self._buckets, name)
        for _ in range(TRIES):
            stores, replaced = self._missing_stores(new), self._replaced(new)
            try:
                self._store.create((*stores, *new), replaced)
            except Aborted:
                continue
            except AlreadyExists:
                default = any(resource.fields.get(DEFAULT) for resource in new)
                if self._exist(new) or not (stores or default):
                    raise
                continue  # another created the store, or a default TensorBoard, at this moment
            return new
        raise Aborted(f"other requests keep changing {new[0].name.collection}; try again")

    def get(self, name: TrackingName) -> Resource:
        """Returns the resource of this name. Raises NotFound."""
        return self._store.get(name)

    def exists(self, name: TrackingName) -> bool:
        return bool(self._store.find((name,)))

    def list(
        self,
        collection: str,
        *,
        where: Filter | None,
        limit: int,
        after: str | None,
        oldest_first: bool = False,
    ) -> Page[Resource]:
        return self._store.list(
            collection, where=where, limit=limit, after=after, oldest_first=oldest_first
        )

    def patch(
        self, name: TrackingName, given: Fields, names: Collection[str], etag: str | None
    ) -> Resource:
        """Sets the fields ``names``.

        Raises:
            NotFound: the resource doesn't exist.
            Aborted: ``etag`` is of an earlier version, or others kept writing the resource.
            AlreadyExists: another resource of the collection has this display name.
        """
        for _ in range(TRIES):
            resource = self._store.get(name)
            check_etag(resource, etag)
            changed = change_fields(resource, given, names, self._clock.now())
            try:
                self._store.write(*self._replaced((changed,)), changed)
            except Aborted:
                continue
            return changed
        raise Aborted(f"other requests keep changing {name}; try again")

    def delete(self, name: TrackingName, etag: str | None = None) -> None:
        """Deletes a resource with everything in it. Raises NotFound; Aborted as ``patch`` does."""
        version = None
        if etag:
            resource = self._store.get(name)
            check_etag(resource, etag)
            version = resource.version
        self._store.delete(name, version)

    def _new(self, name: TrackingName, fields: Fields) -> Resource:
        now = self._clock.now()
        return Resource(name, self._ids.uid(), now, now, fields)

    def _missing_stores(self, new: Sequence[Resource]) -> Sequence[Resource]:
        outer = {resource.name.outer for resource in new}
        needed = [n for n in outer if n is not None and (n.kind, n.id) == (STORES, DEFAULT_STORE)]
        return [self._new(name, {}) for name in needed if not self.exists(name)]

    def _replaced(self, resources: Sequence[Resource]) -> Sequence[Resource]:
        """Returns the TensorBoards that are no longer the default, ready to be written."""
        chosen = {each.name.collection: each for each in resources if each.fields.get(DEFAULT)}
        return [
            change_fields(other, {}, (DEFAULT,), self._clock.now())
            for collection, resource in chosen.items()
            for other in self._defaults(collection)
            if other.name != resource.name
        ]

    def _defaults(self, collection: str) -> tuple[Resource, ...]:
        where = Equals((DEFAULT,), Comparator.EQUAL, value=True)
        return self._store.list(collection, where=where, limit=_DEFAULTS, after=None).items

    def _exist(self, resources: Sequence[Resource]) -> bool:
        return bool(self._store.find([resource.name for resource in resources]))


def _make_bucket(buckets: Buckets, tensorboard: TrackingName) -> None:
    """Creates the bucket for blobs; clients find it by ``blobStoragePathPrefix``."""
    with suppress(AlreadyExists):
        buckets.create_bucket(blob_bucket(tensorboard), project=tensorboard.project)
