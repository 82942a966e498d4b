"""The store of the resources of metadata stores and TensorBoards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from footplate.domain.tracking.filters import Filter
    from footplate.domain.tracking.names import TrackingName
    from footplate.domain.tracking.points import Extent, Point
    from footplate.domain.tracking.resources import Link, LinkKind, Resource
    from footplate.ports.pages import Page


class TrackingStore(Protocol):
    """The store of these. Every method is one transaction: it happens whole or not at all.

    All may raise Unavailable when the database can't be reached or its disk is full.
    """

    def create(self, new: Sequence[Resource], changed: Sequence[Resource] = ()) -> None:
        """Keeps new resources; before that, replaces ``changed`` as ``write`` does.

        Raises:
            AlreadyExists: a name, or a unique key of a collection, is taken.
            NotFound: one is in a resource that doesn't exist.
            Aborted: one of ``changed`` has another version; nothing was changed.
        """
        ...

    def get(self, name: TrackingName) -> Resource:
        """Raises NotFound, naming the resource."""
        ...

    def find(self, names: Collection[TrackingName]) -> tuple[Resource, ...]:
        """Returns the resources of these names that exist, oldest first."""
        ...

    def write(self, *changed: Resource) -> None:
        """Replaces each, if the stored version is the one before.

        Raises:
            Aborted: the stored version of one is another; nothing was changed.
            AlreadyExists: another of the collection has the same unique key.
            NotFound: one doesn't exist.
        """
        ...

    def delete(self, name: TrackingName, version: int | None = None) -> None:
        """Deletes it with all that is in it, its links and its points.

        Raises:
            NotFound: it doesn't exist.
            Aborted: it is at another version than ``version``.
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
        """Resources of one collection, newest first.

        Raises:
            InvalidArgument: ``after`` is no key of a page.
        """
        ...

    def link(self, links: Sequence[Link]) -> None:
        """Adds links, and skips those that exist. Raises NotFound: an end doesn't exist."""
        ...

    def unlink(self, source: TrackingName, targets: Collection[TrackingName]) -> None:
        """Removes links, and skips those that don't exist."""
        ...

    def links(
        self, names: Collection[TrackingName], kinds: Collection[LinkKind], *, upwards: bool = False
    ) -> tuple[Link, ...]:
        """Returns the links from these resources, oldest first; ``upwards``: those to them."""
        ...

    def append(self, points: Mapping[TrackingName, Sequence[Point]]) -> None:
        """A point takes the place of the one at the same step.

        Raises NotFound: one of the time series doesn't exist; nothing was written.
        """
        ...

    def points(
        self, name: TrackingName, *, limit: int, after: int | None = None
    ) -> tuple[Point, ...]:
        """Returns points by their steps, those after the step ``after``. Raises NotFound."""
        ...

    def sample(self, name: TrackingName, most: int) -> tuple[Point, ...]:
        """Returns up to ``most`` points at even distances, with the last one. Raises NotFound."""
        ...

    def extents(self, names: Collection[TrackingName]) -> Mapping[TrackingName, Extent]:
        """Returns how far those time series reach that have points."""
        ...
