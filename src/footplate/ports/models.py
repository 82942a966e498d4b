"""The store of the registry's models."""

from __future__ import annotations

from typing import Protocol

from footplate.domain.filters import Filter
from footplate.domain.model_registry import Model
from footplate.domain.names import ModelName
from footplate.ports.pages import Page


class ModelStore(Protocol):
    """The store of models; every method is one transaction, which succeeds or has no effect.

    All may raise Unavailable if the database can't be reached or its disk is full.
    """

    def create(self, model: Model) -> None:
        """Stores a new model. Raises AlreadyExists: a model has this name; nothing was changed."""
        ...

    def get(self, name: ModelName) -> Model:
        """Returns the model of this name. Raises NotFound, which names the model."""
        ...

    def write(self, model: Model) -> None:
        """Replaces the model if the stored version is ``model.version - 1``.

        Raises:
            Aborted: the stored version is another; nothing was changed.
            NotFound: the model doesn't exist.
        """
        ...

    def delete(self, name: ModelName) -> None:
        """Deletes the model of this name. Raises NotFound."""
        ...

    def collections(self) -> tuple[str, ...]:
        """Returns the collections that have models, in alphabetical order."""
        ...

    def list(
        self, collection: str, *, where: Filter | None, limit: int, after: str | None
    ) -> Page[Model]:
        """Lists the models of one collection (``ModelName.collection``), newest first.

        A model matches ``where`` if its default version does.

        Raises:
            InvalidArgument: ``after`` is not the key of a page.
        """
        ...

    def exporting(self) -> tuple[Model, ...]:
        """Returns the models with an export that hasn't ended, oldest first."""
        ...
