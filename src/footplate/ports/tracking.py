"""The store of the resources of metadata stores and TensorBoards."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from footplate.domain.tracking.filters import Filter
from footplate.domain.tracking.names import TrackingName
from footplate.domain.tracking.points import Extent, Point
from footplate.domain.tracking.resources import Link, LinkKind, Resource
from footplate.ports.pages import Page


class TrackingStore(Protocol):
    """The store of tracking resources; every method is one transaction.

    All may raise Unavailable if the database can't be reached or its disk is full.
    """

    def create(self, new: Sequence[Resource], changed: Sequence[Resource] = ()) -> None:
        """Stores new resources; before that, replaces ``changed`` as ``write`` does.

        Raises:
            AlreadyExists: a name, or a unique key of a collection, is in use.
            NotFound: a containing resource doesn't exist.
            Aborted: one of ``changed`` has another version; nothing was changed.
        """
        ...

    def get(self, name: TrackingName) -> Resource:
        """Returns the resource of this name. Raises NotFound, which names the resource."""
        ...

    def find(self, names: Collection[TrackingName]) -> tuple[Resource, ...]:
        """Returns the resources of these names that exist, oldest first."""
        ...

    def write(self, *changed: Resource) -> None:
        """Replaces each resource if the stored version is the one before.

        Raises:
            Aborted: the stored version of one is another; nothing was changed.
            AlreadyExists: another resource of the collection has the same unique key.
            NotFound: one of the resources doesn't exist.
        """
        ...

    def delete(self, name: TrackingName, version: int | None = None) -> None:
        """Deletes a resource with everything in it, its links and its points.

        Raises:
            NotFound: the resource doesn't exist.
            Aborted: the resource has another version than ``version``.
        """
        ...

    def collections(self) -> tuple[str, ...]:
        """Returns the collections of top-level resources, in alphabetical order."""
        ...

    def list(
        self,
        collection: str,
        *,
        where: Filter | None,
        limit: int,
        after: str | None,
        oldest_first: bool = False,
    ) -> Page[Resource]:
        """Lists the resources of one collection, newest first unless ``oldest_first``.

        Raises:
            InvalidArgument: ``after`` is not the key of a page.
        """
        ...

    def link(self, links: Sequence[Link]) -> None:
        """Adds links, and skips existing ones. Raises NotFound: a linked resource is missing."""
        ...

    def unlink(self, source: TrackingName, targets: Collection[TrackingName]) -> None:
        """Removes links, and skips those that don't exist."""
        ...

    def links(
        self, names: Collection[TrackingName], kinds: Collection[LinkKind], *, upwards: bool = False
    ) -> tuple[Link, ...]:
        """Returns the links from these resources, or with ``upwards`` to them, oldest first."""
        ...

    def append(self, points: Mapping[TrackingName, Sequence[Point]]) -> None:
        """Adds points; a point replaces the one at the same step.

        Raises NotFound: one of the time series doesn't exist; nothing was written.
        """
        ...

    def points(
        self, name: TrackingName, *, limit: int, after: int | None = None
    ) -> tuple[Point, ...]:
        """Returns points by step, after the step ``after``. Raises NotFound."""
        ...

    def sample(self, name: TrackingName, most: int) -> tuple[Point, ...]:
        """Returns up to ``most`` points, evenly chosen, with the last one. Raises NotFound."""
        ...

    def extents(self, names: Collection[TrackingName]) -> Mapping[TrackingName, Extent]:
        """Returns the last step and time of those time series that have points."""
        ...
