"""The model registry as clients and training pipelines use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from footplate.control.job_updates import TRIES
from footplate.control.jobs import Ids
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    Violation,
)
from footplate.domain.filters import Filter
from footplate.domain.model_registry import (
    Change,
    Export,
    Model,
    ModelVersion,
    Upload,
    add_version,
    begin_export,
    delete_version,
    find_version,
    merge_aliases,
    new_model,
    patch_version,
)
from footplate.domain.names import GcsUri, ModelName, parse_model_name
from footplate.domain.submission import Location
from footplate.ports.buckets import Bucket, Listing
from footplate.ports.clock import Clock
from footplate.ports.models import ModelStore
from footplate.ports.pages import Page


class Files(Protocol):
    """The part of ``ports.buckets.Buckets`` that the registry needs."""

    def bucket(self, name: str) -> Bucket: ...

    def list(self, bucket: str, *, prefix: str = "", limit: int = 1000) -> Listing: ...


class ModelRegistry:
    """The model registry; ``wake`` is called when there is an export to do."""

    def __init__(
        self,
        store: ModelStore,
        buckets: Files,
        clock: Clock,
        ids: Ids,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._clock = clock
        self._ids = ids
        self._wake = wake

    def upload(self, where: Location, upload: Upload) -> tuple[Model, ModelVersion]:
        """Creates a model, or a new version of the upload's ``parent``, and returns both.

        Raises:
            InvalidArgument: the bucket of its files doesn't exist.
            NotFound: ``parent`` doesn't exist.
            AlreadyExists: a model has the id that was asked for.
        """
        self._check_bucket(upload.version.artifact_uri)
        if not upload.parent:
            name = ModelName(
                where.project, where.location, upload.model_id or str(self._ids.number())
            )
            model = new_model(name, replace(upload.version, number=1))
            self._store.create(model)
            return model, model.versions[0]
        parent = parse_model_name(upload.parent.partition("@")[0])
        model = self._change(parent, lambda model: add_version(model, upload.version))
        return model, model.versions[-1]

    def upload_once(self, name: ModelName, upload: Upload) -> ModelVersion:
        """Returns the version that a pipeline makes; a second call finds the version of the first.

        ``name`` is the name of a new model, used without a ``parent``. Raises what ``upload``
        raises.
        """
        target = parse_model_name(upload.parent) if upload.parent else name
        made = self._made_by(target, upload.version.pipeline)
        if made is not None:
            return made
        where = Location(name.project, name.location)
        _, version = self.upload(where, replace(upload, model_id=name.model_id))
        return version

    def _made_by(self, name: ModelName, pipeline: str) -> ModelVersion | None:
        try:
            versions = self._store.get(name).versions
        except NotFound:
            return None
        return next((each for each in versions if each.pipeline == pipeline), None)

    def get(self, name: ModelName, key: str = "") -> tuple[Model, ModelVersion]:
        """Returns a model and one of its versions. Raises NotFound.

        ``key`` is the version's number or alias; empty: the default version.
        """
        model = self._store.get(name)
        return model, find_version(model, key)

    def has_files(self, directory: str) -> bool:
        """Returns whether there is any file below a directory of a bucket."""
        where = GcsUri.parse(directory, "artifactUri")
        try:
            return bool(self._buckets.list(where.bucket, prefix=where.path, limit=1).objects)
        except NotFound:  # the bucket was deleted
            return False

    def exists(self, name: ModelName) -> bool:
        try:
            self._store.get(name)
        except NotFound:
            return False
        return True

    def list(
        self, collection: str, *, where: Filter | None, limit: int, after: str | None
    ) -> Page[Model]:
        return self._store.list(collection, where=where, limit=limit, after=after)

    def patch(self, name: ModelName, key: str, change: Change) -> tuple[Model, ModelVersion]:
        now = self._clock.now()
        number = str(find_version(self._store.get(name), key).number)
        model = self._change(name, lambda model: patch_version(model, number, change, now))
        return model, find_version(model, number)

    def merge_aliases(
        self, name: ModelName, key: str, changes: Sequence[str]
    ) -> tuple[Model, ModelVersion]:
        now = self._clock.now()
        number = str(find_version(self._store.get(name), key).number)
        model = self._change(name, lambda model: merge_aliases(model, number, changes, now))
        return model, find_version(model, number)

    def delete(self, name: ModelName) -> None:
        """Deletes the registry's entry alone: files in buckets stay. Raises NotFound."""
        self._store.delete(name)

    def delete_version(self, name: ModelName, key: str) -> ModelVersion:
        """Deletes a version and returns it. Raises NotFound, FailedPrecondition."""
        version = find_version(self._store.get(name), key)
        now = self._clock.now()
        self._change(name, lambda model: delete_version(model, str(version.number), now))
        return version

    def export(
        self, name: ModelName, key: str, destination: str, api_version: str
    ) -> tuple[Model, Export]:
        """Begins to copy a version's files below ``destination``.

        Raises:
            NotFound: there is no such version.
            FailedPrecondition: it has no files in a bucket.
            InvalidArgument: the destination's bucket doesn't exist.
        """
        _, version = self.get(name, key)
        if not version.artifact_uri.startswith("gs://"):
            raise FailedPrecondition(f"{name}@{version.number} has no files in a bucket to export")
        self._check_bucket(destination, "outputConfig.artifactDestination.outputUriPrefix")
        export = Export(0, api_version, version.artifact_uri, destination, self._clock.now())
        model = self._change(name, lambda model: begin_export(model, export))
        self._wake()
        return model, model.exports[-1]

    def _check_bucket(self, uri: str, field: str = "model.artifactUri") -> None:
        if not uri.startswith("gs://"):
            return
        try:
            self._buckets.bucket(GcsUri.parse(uri, field).bucket)
        except NotFound as error:
            raise InvalidArgument.of((Violation(field, error.message),)) from None

    def _change(self, name: ModelName, change: Callable[[Model], Model]) -> Model:
        return change_model(self._store, name, change)


def change_model(store: ModelStore, name: ModelName, change: Callable[[Model], Model]) -> Model:
    """Changes a model: loads, decides, and writes guarded by the version; retries after a conflict.

    Raises:
        NotFound: the model doesn't exist.
        Aborted: others kept writing the model.
    """
    for _ in range(TRIES):
        model = change(store.get(name))
        try:
            store.write(model)
        except Aborted:
            continue
        return model
    raise Aborted(f"other requests keep changing {name}; try again")
