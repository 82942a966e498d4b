"""Writes the data of training pipelines, in threads of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock

from footplate.control.data_exports import (
    ExportedData,
    Stopped,
    annotation_of,
    delete_data,
    export_data,
)
from footplate.control.job_buckets import BucketScope, JobBuckets
from footplate.domain.datasets import Dataset
from footplate.domain.errors import Aborted, ServiceError, Unavailable
from footplate.domain.jobs import Job
from footplate.domain.names import DatasetName, JobUid, parse_dataset_name
from footplate.domain.pipelines import InputData
from footplate.ports.object_storage import ObjectStorage

AT_ONCE = 2
"""Exports at the same time; each keeps a core busy."""


@dataclass(frozen=True)
class _Running:
    future: Future[ExportedData]
    cancelled: Event


class PipelineData:
    """Writes the data of pipelines.

    ``find`` returns a dataset, or raises NotFound. ``shared`` is the setting ``shared_buckets``.
    ``leads`` returns whether this server may still write; ``done`` is called with each pipeline
    whose data is written or can't be.
    """

    def __init__(
        self,
        buckets: ObjectStorage,
        shared: Sequence[str],
        find: Callable[[DatasetName], Dataset],
        leads: Callable[[], bool],
        done: Callable[[JobUid], None],
    ) -> None:
        self._buckets = buckets
        self._shared = shared
        self._find = find
        self._leads = leads
        self._done = done
        self._closed = Event()
        self._lock = Lock()
        self._running: dict[JobUid, _Running] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE, "pipeline-data")

    def take(self, job: Job, data: InputData) -> ExportedData | None:
        """Returns the pipeline's data once it is written; None: it is being written.

        Raises:
            ServiceError: why the data can't be written. After Aborted and Unavailable the next
                call tries again.
        """
        with self._lock:
            running = self._running.get(job.uid)
            if running is None:
                if not self._closed.is_set():
                    self._running[job.uid] = self._begin(job, data)
                return None
            if not running.future.done():
                return None
            del self._running[job.uid]
        with suppress(Stopped):
            return running.future.result()
        return None

    def cancel(self, uid: JobUid) -> bool:
        """Ends the export of a cancelled pipeline; returns whether it has ended."""
        with self._lock:
            running = self._running.get(uid)
            if running is None:
                return True
            running.cancelled.set()
            if running.future.cancel() or running.future.done():
                del self._running[uid]
                return True
        return False

    def close(self) -> None:
        """Ends all exports; the next leader begins them again."""
        self._closed.set()
        self._threads.shutdown(cancel_futures=True)

    def _begin(self, job: Job, data: InputData) -> _Running:
        cancelled = Event()
        future = self._threads.submit(self._export, job, data, cancelled)
        future.add_done_callback(lambda _: self._done(job.uid))
        return _Running(future, cancelled)

    def _export(self, job: Job, data: InputData, cancelled: Event) -> ExportedData:
        def check() -> None:
            if cancelled.is_set() or self._closed.is_set() or not self._leads():
                raise Stopped

        buckets = JobBuckets(self._buckets, BucketScope.of(job), self._shared)
        dataset = self._find(parse_dataset_name(data.dataset))
        kind = annotation_of(data.annotation_schema) or dataset.data_type
        directory = data.folder(kind, job.create_time)
        try:
            return export_data(
                dataset,
                data.split,
                directory,
                buckets,
                check,
                annotation_schema=data.annotation_schema,
            )
        except (Aborted, Unavailable):
            raise
        except (ServiceError, Stopped):
            if self._leads() and not self._closed.is_set():
                with suppress(ServiceError):  # files that nobody will miss
                    delete_data(directory, buckets)
            raise
