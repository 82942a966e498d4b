"""Carries out the exports of datasets, one after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from threading import Event

from footplate.control.data_exports import Stopped, delete_data, export_data
from footplate.control.dataset_files import find_files
from footplate.control.datasets import change_record, write_fields
from footplate.control.job_buckets import BucketScope, JobBuckets
from footplate.domain.datasets import Dataset, DatasetOperation
from footplate.domain.errors import Aborted, Code, NotFound, ServiceError
from footplate.domain.filters import Comparator
from footplate.domain.tracking.filters import Equals
from footplate.domain.tracking.names import DATASETS
from footplate.domain.tracking.resources import Resource
from footplate.ports.clock import Clock
from footplate.ports.object_storage import ObjectStorage
from footplate.ports.pages import items_of
from footplate.ports.tracking import TrackingStore
from footplate.wire.vertex_v1.dataset_fields import (
    EXPORTING,
    dataset_of,
    operation_fields,
    operations_of,
)
from footplate.wire.vertex_v1.dataset_requests import plan_of

_AT_ONCE = 100
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Exported:
    """The result of an export: files or patterns of files, and the items in each of the three sets.

    ``counts`` may be empty: only exports for training have them.
    """

    files: tuple[str, ...]
    counts: tuple[int, ...]


Export = Callable[[Dataset, DatasetOperation, Callable[[], bool]], Exported]
"""Writes a dataset's data. The last argument returns whether to raise ``Stopped``."""


class DatasetExports:
    """Carries out exports; an interrupted export simply starts again."""

    def __init__(self, store: TrackingStore, export: Export, clock: Clock) -> None:
        self._store = store
        self._export = export
        self._clock = clock
        self._closed = Event()

    def close(self) -> None:
        """Stops a running export."""
        self._closed.set()

    def step(self) -> None:
        """Carries out all exports that haven't ended."""
        for record in self._exporting():
            for operation in operations_of(record):
                if operation.end_time is None:
                    self._do(record, operation)

    def _exporting(self) -> Iterator[Resource]:
        where = Equals((EXPORTING,), Comparator.EQUAL, value=True)
        for collection in self._store.collections():
            if collection.endswith(f"/{DATASETS}"):
                read = partial(self._store.list, collection, where=where, limit=_AT_ONCE)
                yield from items_of(read)

    def _do(self, record: Resource, operation: DatasetOperation) -> None:
        try:
            done = self._export(dataset_of(record), operation, self._closed.is_set)
        except Stopped:
            return
        except ServiceError as error:
            operation = replace(operation, code=error.code, message=error.message)
        except OSError as error:
            said = f"{record.name} can't be exported: {error}"
            operation = replace(operation, code=Code.UNAVAILABLE, message=said)
        else:
            operation = replace(operation, files=done.files, counts=done.counts)
        if operation.message:
            _log.error(
                "export %d of %s failed: %s", operation.number, record.name, operation.message
            )
        self._end(record, replace(operation, end_time=self._clock.now()))

    def _end(self, record: Resource, ended: DatasetOperation) -> None:
        def end(record: Resource) -> Resource:
            operations = operations_of(record)
            changed = [ended if each.number == ended.number else each for each in operations]
            return write_fields(record, operation_fields(changed))

        # The dataset was deleted meanwhile; or others write to it, and the next step ends it.
        with suppress(NotFound, Aborted):
            change_record(self._store, record.name, end)


class DatasetExporter:
    """Writes the data of datasets into ``buckets``, those that their projects may use.

    ``shared`` is the setting ``shared_buckets``.
    """

    def __init__(self, buckets: ObjectStorage, shared: Sequence[str]) -> None:
        self._all = buckets
        self._shared = shared

    def export(
        self, dataset: Dataset, operation: DatasetOperation, closed: Callable[[], bool]
    ) -> Exported:
        """Writes the data; interrupted or repeated, it writes the same files again.

        Raises ServiceError: why the data can't be written. Stopped, once ``closed`` returns True.
        """

        def check() -> None:
            if closed():
                raise Stopped

        plan, folder = plan_of(operation.request), operation.directory
        buckets = JobBuckets(self._all, BucketScope(dataset.name.project), self._shared)
        try:
            done = export_data(
                dataset,
                plan.split,
                folder,
                buckets,
                check,
                annotation_schema=plan.annotation_schema,
            )
        except ServiceError:
            with suppress(ServiceError, OSError):  # the first error is the one to report
                delete_data(folder, buckets)
            raise
        if plan.for_training:
            return Exported(done.patterns, done.counts)
        patterns = (each for each, count in zip(done.patterns, done.counts, strict=True) if count)
        found = (file for each in patterns for file in find_files(buckets, each))
        return Exported(tuple(f"gs://{file.bucket}/{file.name}" for file in found), ())
