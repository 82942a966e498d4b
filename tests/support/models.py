"""Models for tests, and a store that forgets them at its end."""

from __future__ import annotations

from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.errors import Aborted, AlreadyExists, NotFound
from footplate.domain.filters import selects
from footplate.domain.model_registry import ModelVersion, new_model
from footplate.domain.names import ModelName
from footplate.ports.buckets import Bucket, Listing, ObjectInfo
from footplate.store.paging import Position, first_page
from tests.support.jobs import CREATED

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.filters import Filter
    from footplate.domain.model_registry import Model
    from footplate.ports.pages import Page


def make_model(
    model_id: str = "1", display_name: str = "a model", at: datetime = CREATED, **more: object
) -> Model:
    """With one version. ``more`` are fields of it."""
    version = ModelVersion(1, "{}", display_name, at, at)
    name = ModelName("demo", "us-central1", model_id)
    return new_model(name, replace(version, **more))  # type: ignore[arg-type]  # by their names


class MemoryFiles:
    """``footplate.control.models.Files``: the bucket ``b``, and the names of the files in it."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def bucket(self, name: str) -> Bucket:
        if name != "b":
            raise NotFound(f"there is no bucket {name!r}")
        return Bucket(name, CREATED)

    def list(self, bucket: str, *, prefix: str = "", limit: int = 1000) -> Listing:
        self.bucket(bucket)
        found = [each for each in sorted(self.names) if each.startswith(prefix)]
        objects = (ObjectInfo(bucket, name, 1, 0, 1, CREATED) for name in found[:limit])
        return Listing(tuple(objects), (), None)


class MemoryModels:
    """``footplate.ports.models.ModelStore`` in a dictionary."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._models: dict[ModelName, Model] = {}

    def create(self, model: Model) -> None:
        with self._lock:
            if model.name in self._models:
                raise AlreadyExists(f"{model.name} already exists")
            self._models[model.name] = model

    def get(self, name: ModelName) -> Model:
        with self._lock:
            return self._find(name)

    def write(self, model: Model) -> None:
        with self._lock:
            if self._find(model.name).version != model.version - 1:
                raise Aborted(f"{model.name} is at another version")
            self._models[model.name] = model

    def delete(self, name: ModelName) -> None:
        with self._lock:
            self._find(name)
            del self._models[name]

    def collections(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(sorted({name.collection for name in self._models}))

    def list(
        self, collection: str, *, where: Filter | None, limit: int, after: str | None
    ) -> Page[Model]:
        position = None if after is None else Position.parse(after)
        with self._lock:
            found = [each for each in self._models.values() if each.name.collection == collection]
        found.sort(key=Position.of, reverse=True)
        left = [
            each
            for each in found
            if (position is None or Position.of(each) < position)
            and (where is None or selects(where, each.value))
        ]
        return first_page(left, limit, Position.of)

    def exporting(self) -> tuple[Model, ...]:
        with self._lock:
            models = sorted(self._models.values(), key=Position.of)
        return tuple(m for m in models if any(e.end_time is None for e in m.exports))

    def _find(self, name: ModelName) -> Model:
        if name not in self._models:
            raise NotFound(f"{name} does not exist")
        return self._models[name]
