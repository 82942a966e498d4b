"""Managed datasets as clients and training pipelines use them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from footplate.control.dataset_files import find_files
from footplate.control.job_buckets import BucketScope, JobBuckets
from footplate.control.job_updates import TRIES
from footplate.domain.datasets import (
    Dataset,
    DatasetOperation,
    ImportedFiles,
    OperationKind,
    add_operation,
    merge_imports,
)
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ServiceError,
    Violation,
)
from footplate.domain.names import DatasetName, GcsUri
from footplate.domain.tracking.names import DATASETS, TrackingName
from footplate.domain.tracking.resources import Fields, Resource, change_fields
from footplate.ports.clock import Clock
from footplate.ports.object_storage import ObjectStorage
from footplate.ports.tracking import TrackingStore
from footplate.wire.vertex_v1.dataset_fields import (
    dataset_of,
    import_fields,
    imports_of,
    operation_fields,
    operations_of,
)

MAX_IMPORTS = 10_000
"""Files of one dataset, which are in its record."""


class Datasets:
    """The datasets. They are records of the same kind as TensorBoards.

    ``wake`` is called when there is an export to do. ``shared`` is the setting ``shared_buckets``.
    """

    def __init__(
        self,
        store: TrackingStore,
        buckets: ObjectStorage,
        clock: Clock,
        wake: Callable[[], None] = lambda: None,
        shared: Sequence[str] = (),
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._clock = clock
        self._wake = wake
        self._shared = shared

    def get(self, name: DatasetName) -> Dataset:
        """Returns the dataset of this name. Raises NotFound."""
        return read_dataset(self._store, name)

    def operation(self, name: DatasetName, number: int) -> DatasetOperation:
        """Returns an import or export. Raises NotFound."""
        for each in operations_of(self._store.get(tracking_name(name))):
            if each.number == number:
                return each
        raise NotFound(f"{name} has no import or export with the number {number}")

    def import_files(
        self, name: DatasetName, files: Sequence[ImportedFiles], api_version: str
    ) -> DatasetOperation:
        """Adds import files to a dataset, unless one is missing: then the operation has failed.

        What the files contain is read by the exports of the dataset.

        Raises NotFound: the dataset doesn't exist; FailedPrecondition: it has too many files.
        """
        now = self._clock.now()
        operation = DatasetOperation(OperationKind.IMPORT, api_version, now, end_time=now)
        if (error := self._missing(name, files)) is not None:
            operation = replace(operation, code=error.code, message=error.message)

        def add(record: Resource) -> Resource:
            fields = operation_fields(add_operation(operations_of(record), operation))
            if not operation.succeeded:
                return write_fields(record, fields)
            imports = merge_imports(imports_of(record), files)
            if len(imports) > MAX_IMPORTS:
                raise FailedPrecondition(
                    f"{name} would have {len(imports)} import files; allowed: {MAX_IMPORTS}. "
                    "Use wildcards in the URIs, or join files"
                )
            fields = {**fields, **import_fields(imports)}
            return change_fields(record, fields, fields.keys(), now)

        return self._newest(name, add)

    def export(
        self, name: DatasetName, directory: str, request: str, api_version: str
    ) -> DatasetOperation:
        """Begins to write a dataset's data into ``directory``.

        Raises:
            NotFound: the dataset doesn't exist.
            FailedPrecondition: it has no files.
            InvalidArgument: the directory's bucket doesn't exist.
            PermissionDenied: the bucket belongs to another project.
            Aborted: another export writes to the directory; or others kept writing the record.
        """
        dataset = self.get(name)
        if not dataset.sources:
            way = (
                "give metadata.inputConfig.gcsSource at create" if dataset.is_tabular else "import"
            )
            raise FailedPrecondition(f"{name} has no files to export: {way} files first")
        try:
            self._usable(name).bucket(GcsUri.parse(directory, "").bucket)
        except NotFound as error:
            field = "exportConfig.gcsDestination.outputUriPrefix"
            raise InvalidArgument.of((Violation(field, error.message),)) from None
        operation = DatasetOperation(
            OperationKind.EXPORT,
            api_version,
            self._clock.now(),
            directory=directory,
            request=request,
        )

        def add(record: Resource) -> Resource:
            earlier = operations_of(record)
            if any(each.directory == directory for each in earlier):
                raise Aborted(f"another export to {directory} began at this moment; try again")
            return write_fields(record, operation_fields(add_operation(earlier, operation)))

        begun = self._newest(name, add)
        self._wake()
        return begun

    def _newest(self, name: DatasetName, add: Callable[[Resource], Resource]) -> DatasetOperation:
        return operations_of(change_record(self._store, tracking_name(name), add))[-1]

    def _usable(self, name: DatasetName) -> ObjectStorage:
        """Returns the buckets that the dataset's project may use."""
        return JobBuckets(self._buckets, BucketScope(name.project), self._shared)

    def _missing(self, name: DatasetName, files: Sequence[ImportedFiles]) -> ServiceError | None:
        """Returns the error that one of the files can't be found; None: all are there."""
        buckets = self._usable(name)
        for uri in dict.fromkeys(uri for each in files for uri in each.uris):
            try:
                next(find_files(buckets, uri))
            except ServiceError as error:
                return error
        return None


def read_dataset(store: TrackingStore, name: DatasetName) -> Dataset:
    """Returns the dataset of this name. Raises NotFound."""
    return dataset_of(store.get(tracking_name(name)))


def tracking_name(name: DatasetName) -> TrackingName:
    return TrackingName(name.project, name.location, (DATASETS, name.dataset_id))


def write_fields(record: Resource, fields: Fields) -> Resource:
    """Sets fields that no answer has, so that the dataset's update time stays."""
    return change_fields(record, fields, fields.keys(), record.update_time)


def change_record(
    store: TrackingStore, name: TrackingName, change: Callable[[Resource], Resource]
) -> Resource:
    """Changes a dataset's record: loads, decides, and writes guarded by the version; retries.

    Raises:
        NotFound: the dataset doesn't exist.
        Aborted: others kept writing it.
    """
    for _ in range(TRIES):
        record = change(store.get(name))
        try:
            store.write(record)
        except Aborted:
            continue
        return record
    raise Aborted(f"other requests keep changing {name}; try again")
