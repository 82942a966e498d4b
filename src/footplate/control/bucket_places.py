"""Finds the paths at which the programs of a job see buckets and what is in them."""

from __future__ import annotations

from collections.abc import Sequence

from footplate.control.bucket_copies import find_copied, find_named
from footplate.control.job_buckets import find_usable
from footplate.control.node_places import NodePlaces
from footplate.control.uri_paths import local_path
from footplate.domain.jobs import Job
from footplate.ports.bucket_copies import BucketCopies
from footplate.ports.buckets import Bucket, Buckets
from footplate.protocol.task import BoundBucket

_SCHEME = "gs://"


class BucketPlaces:
    """The paths at which programs find buckets.

    ``copies`` makes local copies of buckets that aren't stored as folders; None: all buckets are
    folders.
    """

    def __init__(
        self, buckets: Buckets, shared: Sequence[str], copies: BucketCopies | None
    ) -> None:
        self._buckets = buckets
        self._shared = shared
        self._copies = copies

    def visible(
        self, job: Job, node: NodePlaces
    ) -> tuple[tuple[str, ...] | None, tuple[BoundBucket, ...]]:
        """Returns the names of buckets in the common folder (None: all), and others' places."""
        if node.files:
            named = find_named(self._buckets, job, self._shared)
            return (), tuple(self._bound(job, node, each) for each, _ in named)
        usable = find_usable(self._buckets, job, self._shared)
        copied = [each.name for each, _ in find_copied(self._buckets, job, self._shared)]
        bound = [each for each in usable.bound if not each.remote or each.name in copied]
        return usable.names, tuple(self._bound(job, node, each) for each in bound)

    def path(self, job: Job, node: NodePlaces, uri: str) -> str:
        """Returns the path at which programs find an object or directory, perhaps in a copy."""
        if node.files and uri.startswith(_SCHEME):
            return f"{node.files}/{uri.removeprefix(_SCHEME)}"
        path = local_path(uri, self._buckets)
        if self._copies is None or not path.startswith(_SCHEME):
            return path
        bucket, _, name = path.removeprefix(_SCHEME).partition("/")
        folder = self._copies.folder(job.uid, bucket)
        return f"{folder}/{name}" if name else str(folder)

    def _bound(self, job: Job, node: NodePlaces, bucket: Bucket) -> BoundBucket:
        path = self.path(job, node, f"{_SCHEME}{bucket.name}")
        copied = bucket.remote or bool(node.files)
        return BoundBucket(bucket.name, path, bucket.read_only, copied=copied)
