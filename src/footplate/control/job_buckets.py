"""The buckets as the programs of a job may use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from footplate.domain.bucket_locations import DEFAULT_LOCATION
from footplate.domain.bucket_sharing import EVERY, may_use
from footplate.domain.errors import PermissionDenied
from footplate.domain.jobs import Job
from footplate.domain.names import GcsUri
from footplate.ports.buckets import Bucket, Buckets, Listing, ObjectInfo
from footplate.ports.object_storage import Checksums, Conditions, Draft, ObjectStorage, Upload

_SCHEME = "gs://"


@dataclass(frozen=True)
class BucketScope:
    """The buckets that a job may use: those of its project, and the ``named`` ones.

    The named ones are those in which the job has directories.
    """

    project: str
    named: frozenset[str] = frozenset()

    @classmethod
    def of(cls, job: Job) -> BucketScope:
        uris = (directory.uri for directory in job.spec.directories)
        named = (
            uri.removeprefix(_SCHEME).partition("/")[0] for uri in uris if uri.startswith(_SCHEME)
        )
        return cls(job.name.project, frozenset(named))

    def holds(self, bucket: Bucket, shared: Sequence[str]) -> bool:
        return bucket.name in self.named or may_use(
            bucket.name, bucket.project, self.project, shared
        )


@dataclass(frozen=True)
class UsableBuckets:
    """The buckets that the programs of a job may use.

    ``names`` are buckets in the data directory; None: all of these, also those made later.
    ``bound`` are the other buckets.
    """

    names: tuple[str, ...] | None
    bound: tuple[Bucket, ...]


def find_usable(buckets: Buckets, job: Job, shared: Sequence[str]) -> UsableBuckets:
    found, scope = buckets.buckets(), BucketScope.of(job)
    if EVERY in shared and not any(bucket.target for bucket in found):
        return UsableBuckets(None, ())
    usable = [bucket for bucket in found if scope.holds(bucket, shared)]
    return UsableBuckets(
        tuple(bucket.name for bucket in usable if not bucket.target),
        tuple(bucket for bucket in usable if bucket.target),
    )


class JobBuckets:
    """Implements ``ports.object_storage.ObjectStorage`` for the buckets in ``scope``.

    Other buckets raise PermissionDenied. ``shared`` is the setting ``shared_buckets``.
    """

    def __init__(self, buckets: ObjectStorage, scope: BucketScope, shared: Sequence[str]) -> None:
        self._all = buckets
        self._scope = scope
        self._shared = shared

    def buckets(self) -> tuple[Bucket, ...]:
        return tuple(each for each in self._all.buckets() if self._scope.holds(each, self._shared))

    def bucket(self, name: str) -> Bucket:
        bucket = self._all.bucket(name)
        if not self._scope.holds(bucket, self._shared):
            raise PermissionDenied(
                f"bucket {name!r} belongs to the project {bucket.project!r}, and not to "
                f"{self._scope.project!r}; "
                "the server's setting shared_buckets can open it to others"
            )
        return bucket

    def create_bucket(
        self,
        name: str,
        location: str = DEFAULT_LOCATION,
        project: str | None = None,  # noqa: ARG002 - a program's own counts
    ) -> Bucket:
        return self._all.create_bucket(name, location, self._scope.project)

    def assign_bucket(self, name: str, project: str) -> None:  # noqa: ARG002 - nobody's
        raise PermissionDenied(f"bucket {name!r}: a program can't give a bucket to a project")

    def label_bucket(
        self, name: str, labels: Mapping[str, str], metageneration: int | None = None
    ) -> Bucket:
        self.bucket(name)
        return self._all.label_bucket(name, labels, metageneration)

    def delete_bucket(self, name: str) -> None:
        self.bucket(name)
        self._all.delete_bucket(name)

    def stat(self, bucket: str, name: str) -> ObjectInfo:
        self.bucket(bucket)
        return self._all.stat(bucket, name)

    def read(self, bucket: str, name: str) -> BinaryIO:
        self.bucket(bucket)
        return self._all.read(bucket, name)

    def open(self, bucket: str, name: str) -> tuple[ObjectInfo, BinaryIO]:
        self.bucket(bucket)
        return self._all.open(bucket, name)

    def write(
        self,
        bucket: str,
        name: str,
        chunks: Iterable[bytes],
        *,
        content_type: str = "application/octet-stream",
        metadata: Mapping[str, str] | None = None,
        if_generation: int | None = None,
    ) -> ObjectInfo:
        self.bucket(bucket)
        return self._all.write(
            bucket,
            name,
            chunks,
            content_type=content_type,
            metadata=metadata,
            if_generation=if_generation,
        )

    def put(self, draft: Draft, chunks: Iterable[bytes]) -> ObjectInfo:
        self.bucket(draft.bucket)
        return self._all.put(draft, chunks)

    def update(self, draft: Draft) -> ObjectInfo:
        self.bucket(draft.bucket)
        return self._all.update(draft)

    def delete(self, bucket: str, name: str) -> None:
        self.bucket(bucket)
        self._all.delete(bucket, name)

    def remove(self, bucket: str, name: str, conditions: Conditions) -> None:
        self.bucket(bucket)
        self._all.remove(bucket, name, conditions)

    def list(
        self,
        bucket: str,
        *,
        prefix: str = "",
        delimiter: str = "",
        limit: int = 1000,
        token: str | None = None,
    ) -> Listing:
        self.bucket(bucket)
        return self._all.list(bucket, prefix=prefix, delimiter=delimiter, limit=limit, token=token)

    def scan(
        self, bucket: str, *, prefix: str, delimiter: str, limit: int, start: str, end: str
    ) -> Listing:
        self.bucket(bucket)
        return self._all.scan(
            bucket, prefix=prefix, delimiter=delimiter, limit=limit, start=start, end=end
        )

    def local_path(self, uri: GcsUri) -> Path | None:
        self.bucket(uri.bucket)
        return self._all.local_path(uri)

    def begin_upload(self, draft: Draft) -> str:
        self.bucket(draft.bucket)
        return self._all.begin_upload(draft)

    def upload(self, upload_id: str) -> Upload:
        upload = self._all.upload(upload_id)
        self.bucket(upload.bucket)
        return upload

    def append(self, upload_id: str, offset: int, chunks: Iterable[bytes]) -> int:
        self.upload(upload_id)
        return self._all.append(upload_id, offset, chunks)

    def finish_upload(self, upload_id: str, checksums: Checksums) -> ObjectInfo:
        self.upload(upload_id)
        return self._all.finish_upload(upload_id, checksums)

    def abandon_upload(self, upload_id: str) -> None:
        self.upload(upload_id)
        self._all.abandon_upload(upload_id)
