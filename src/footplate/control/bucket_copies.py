"""Copies of bound buckets for programs: fetched before their start, saved after their end."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from footplate.control.current_attempts import current
from footplate.control.job_buckets import find_usable
from footplate.domain.errors import Aborted, NotFound, ServiceError, Unavailable
from footplate.domain.named_objects import find_prefixes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.control.tokens import Bearer
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobUid
    from footplate.ports.bucket_copies import BucketCopies, Copied
    from footplate.ports.buckets import Bucket, Buckets
    from footplate.ports.store import Store

_MAX_NAMED = 5


class Step(Enum):
    FETCH = "fetch"
    SAVE = "save"


@dataclass(frozen=True)
class StepResult:
    """``notes`` are sentences for the job's events; ``fault``: why it can't go on, if it can't.

    ``retry``: the fault may be over later. ``progress`` is a sentence on a step that goes on.
    """

    done: bool
    notes: tuple[str, ...] = ()
    fault: str = ""
    retry: bool = False
    progress: str = ""


def find_copied(
    buckets: Buckets, job: Job, shared: Sequence[str]
) -> Iterator[tuple[Bucket, tuple[str, ...]]]:
    """The buckets without a folder that the job may use and names, and what it names of them."""
    for bucket in find_usable(buckets, job, shared).bound:
        prefixes = find_prefixes(job.spec, bucket.name)
        if bucket.remote and prefixes:
            yield bucket, prefixes


class CopySteps:
    """``shared`` is the setting ``shared_buckets``."""

    def __init__(
        self, store: Store, buckets: Buckets, copies: BucketCopies, shared: Sequence[str]
    ) -> None:
        self._store = store
        self._buckets = buckets
        self._copies = copies
        self._shared = shared

    def take(self, bearer: Bearer, step: Step) -> StepResult:
        """Copy for some seconds. Raises what ``current`` raises."""
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

    def remove_old(self) -> None:
        """Delete the copies of jobs that are over, but what couldn't be saved."""
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
        named = ", ".join(names[:_MAX_NAMED]) + (", ..." if len(names) > _MAX_NAMED else "")
        folder = self._copies.folder(job.uid, bucket.name)
        return (
            f"{_count(len(names), 'file')} of /gcs/{bucket.name} can't be written to {place}: "
            f"{error.message}. They are in {folder}: {named}"
        )

    def _is_over(self, uid: JobUid) -> bool:
        try:
            job = self._store.get_by_uid(uid)
        except NotFound:
            return True
        return job.state.terminal


def _describe(bucket: Bucket, prefixes: tuple[str, ...], copied: Copied, step: Step) -> str:
    amount = _count(copied.objects, "object")
    if step is Step.SAVE:
        if not copied.objects:
            return ""
        return (
            f"{amount} ({copied.size_bytes} bytes) of /gcs/{bucket.name} written to {bucket.target}"
        )
    named = ", ".join(f"gs://{bucket.name}/{prefix}" for prefix in prefixes[:_MAX_NAMED])
    sentence = (
        f"{amount} ({copied.size_bytes} bytes) of {bucket.target} copied to /gcs/{bucket.name}: "
        f"what the job names ({named}); nothing else of the bucket is there"
    )
    if copied.skipped:
        sentence += f". {len(copied.skipped)} can be no files, such as {copied.skipped[0]!r}"
    return sentence


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _describe_progress(bucket: Bucket, copied: Copied, step: Step) -> str:
    if step is Step.FETCH:
        return f"copying {bucket.target} to /gcs/{bucket.name}: {copied.objects} objects so far"
    return f"writing /gcs/{bucket.name} to {bucket.target}"
