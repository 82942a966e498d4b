"""The store of persistent resources."""

from __future__ import annotations

from typing import Protocol

from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import PersistentResource
from footplate.ports.pages import Page


class PersistentResourceStore(Protocol):
    """The store of persistent resources; every method is one transaction.

    All may raise Unavailable if the database can't be reached or its disk is full.
    """

    def create(self, resource: PersistentResource) -> None:
        """Stores a new resource.

        Raises AlreadyExists: a resource has this name; nothing was changed.
        """
        ...

    def get(self, name: PersistentResourceName) -> PersistentResource:
        """Returns the resource of this name. Raises NotFound, which names the resource."""
        ...

    def write(self, resource: PersistentResource) -> None:
        """Replaces the resource if the stored version is ``resource.version - 1``.

        Raises:
            Aborted: the stored version is another; nothing was changed.
            NotFound: the resource doesn't exist.
        """
        ...

    def delete(self, resource: PersistentResource) -> None:
        """Deletes the resource if it has this version. Raises what ``write`` raises."""
        ...

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[PersistentResource]:
        """Lists one collection (``PersistentResourceName.collection``), newest first.

        Raises:
            InvalidArgument: ``after`` is not the key of a page.
        """
        ...

    def all(self) -> tuple[PersistentResource, ...]:
        """Returns the resources of all projects and regions, oldest first."""
        ...
