"""Copies of bound buckets for programs: fetched before their start, saved after their end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from footplate.control.current_attempts import current
from footplate.control.job_buckets import BucketScope
from footplate.control.tokens import Bearer
from footplate.domain.bucket_copying import describe_fetched, describe_saved, describe_unsaved
from footplate.domain.errors import Aborted, NotFound, ServiceError, Unavailable
from footplate.domain.jobs import Job
from footplate.domain.named_objects import find_prefixes
from footplate.domain.names import JobUid
from footplate.ports.bucket_copies import BucketCopies, Copied
from footplate.ports.buckets import Bucket, Buckets
from footplate.ports.store import Store
from footplate.protocol.bucket_copies import StepResult


class Step(Enum):
    FETCH = "fetch"
    SAVE = "save"


def find_copied(
    buckets: Buckets, job: Job, shared: Sequence[str]
) -> Iterator[tuple[Bucket, tuple[str, ...]]]:
    """Yields the buckets without a folder that the job may use, with the prefixes it names."""
    return ((each, names) for each, names in find_named(buckets, job, shared) if each.remote)


def find_named(
    buckets: Buckets, job: Job, shared: Sequence[str]
) -> Iterator[tuple[Bucket, tuple[str, ...]]]:
    """Yields the buckets that the job names and may use, with the prefixes that it names."""
    scope = BucketScope.of(job)
    for bucket in buckets.buckets():
        prefixes = find_prefixes(job.spec, bucket.name)
        if prefixes and scope.holds(bucket, shared):
            yield bucket, prefixes


class CopySteps:
    """The steps that copy buckets for jobs; ``shared`` is the setting ``shared_buckets``."""

    def __init__(
        self, store: Store, buckets: Buckets, copies: BucketCopies, shared: Sequence[str]
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._copies = copies
        self._shared = shared

    def take(self, bearer: Bearer, step: Step) -> StepResult:
        """Copies for some seconds, as one part of a step. Raises what ``current`` raises."""
        job = current(self._store, bearer)
        if step is Step.FETCH:
            self._copies.remove(self._is_over)
        notes = []
        for bucket, prefixes in find_copied(self._buckets, job, self._shared):
            if step is Step.SAVE and bucket.read_only:
                continue
            try:
                copied = self._copy(job, bucket, prefixes, step)
            except ServiceError as error:
                retry = isinstance(error, Unavailable | Aborted)
                return StepResult(False, (), self._describe_fault(job, bucket, step, error), retry)
            if not copied.complete:
                return StepResult(False, progress=_describe_progress(bucket, copied, step))
            notes.append(_describe(bucket, prefixes, copied, step))
        return StepResult(True, tuple(note for note in notes if note))

    def plan(self, bearer: Bearer) -> tuple[tuple[Bucket, tuple[str, ...]], ...]:
        """Returns the buckets that a node without shared folders copies itself, with prefixes.

        Raises what ``current`` raises.
        """
        job = current(self._store, bearer)
        return tuple(find_named(self._buckets, job, self._shared))

    def remove_old(self) -> None:
        """Deletes the copies of jobs that are over, except files that couldn't be saved."""
        self._copies.remove(self._is_over)

    def _copy(self, job: Job, bucket: Bucket, prefixes: tuple[str, ...], step: Step) -> Copied:
        if step is Step.FETCH:
            return self._copies.fetch(job.uid, bucket.name, prefixes)
        return self._copies.save(job.uid, bucket.name)

    def _describe_fault(self, job: Job, bucket: Bucket, step: Step, error: ServiceError) -> str:
        place = f"gs://{bucket.name} (bound to {bucket.target})"
        if step is Step.FETCH:
            return f"{place} can't be copied to /gcs/{bucket.name}: {error.message}"
        names = self._copies.unsaved(job.uid, bucket.name)
        folder = str(self._copies.folder(job.uid, bucket.name))
        return describe_unsaved(bucket.name, place, error.message, folder, names)

    def _is_over(self, uid: JobUid) -> bool:
        try:
            job = self._store.get_by_uid(uid)
        except NotFound:
            return True
        return job.state.terminal


def _describe(bucket: Bucket, prefixes: tuple[str, ...], copied: Copied, step: Step) -> str:
    if step is Step.SAVE:
        return describe_saved(bucket.name, bucket.target or "", copied.objects, copied.size_bytes)
    return describe_fetched(
        bucket.name,
        bucket.target or "",
        prefixes,
        copied.objects,
        copied.size_bytes,
        copied.skipped,
    )


def _describe_progress(bucket: Bucket, copied: Copied, step: Step) -> str:
    if step is Step.FETCH:
        return f"copying {bucket.target} to /gcs/{bucket.name}: {copied.objects} objects so far"
    return f"writing /gcs/{bucket.name} to {bucket.target}"
