"""The store of the registry's models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from footplate.domain.filters import Filter
    from footplate.domain.model_registry import Model
    from footplate.domain.names import ModelName
    from footplate.ports.pages import Page


class ModelStore(Protocol):
    """The store of models. Every method is one transaction: it happens whole or not at all.

    All may raise Unavailable when the database can't be reached or its disk is full.
    """

    def create(self, model: Model) -> None:
        """Raises AlreadyExists: a model has this name; nothing was changed."""
        ...

    def get(self, name: ModelName) -> Model:
        """Raises NotFound, naming the model."""
        ...

    def write(self, model: Model) -> None:
        """Replaces the model, if the stored version is ``model.version - 1``.

        Raises:
            Aborted: the stored version is another; nothing was changed.
            NotFound: there is no such model.
        """
        ...

    def delete(self, name: ModelName) -> None:
        """Raises NotFound."""
        ...

    def collections(self) -> tuple[str, ...]:
        """Returns the collections that have models, in alphabetical order."""
        ...

    def list(
        self, collection: str, *, where: Filter | None, limit: int, after: str | None
    ) -> Page[Model]:
        """Models of one collection (``ModelName.collection``), newest first.

        ``where`` is true of a model if it is of its default version.

        Raises:
            InvalidArgument: ``after`` is no key of a page.
        """
        ...

    def exporting(self) -> tuple[Model, ...]:
        """Returns the models with an export that hasn't ended, oldest first."""
        ...
