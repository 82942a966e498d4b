"""The store of persistent resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from footplate.domain.names import PersistentResourceName
    from footplate.domain.persistent_resources import PersistentResource
    from footplate.ports.pages import Page


class PersistentResourceStore(Protocol):
    """The store of these resources. Every method is one transaction: whole or not at all.

    All may raise Unavailable when the database can't be reached or its disk is full.
    """

    def create(self, resource: PersistentResource) -> None:
        """Raises AlreadyExists: a resource has this name; nothing was changed."""
        ...

    def get(self, name: PersistentResourceName) -> PersistentResource:
        """Raises NotFound, naming the resource."""
        ...

    def write(self, resource: PersistentResource) -> None:
        """Replaces the resource, if the stored version is ``resource.version - 1``.

        Raises:
            Aborted: the stored version is another; nothing was changed.
            NotFound: there is no such resource.
        """
        ...

    def delete(self, resource: PersistentResource) -> None:
        """Deletes the resource if it is at this version. Raises as ``write`` does."""
        ...

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[PersistentResource]:
        """Lists one collection (``PersistentResourceName.collection``), newest first.

        Raises:
            InvalidArgument: ``after`` is no key of a page.
        """
        ...

    def all(self) -> tuple[PersistentResource, ...]:
        """Returns the resources of all projects and regions, oldest first."""
        ...
