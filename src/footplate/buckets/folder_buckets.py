"""Buckets as folders: an object is a plain file at its path, where programs find it. And buckets
that are bound to a remote store.

What a file can't say (content type, checksums, generation) is kept beside, under
``.footplate``, which is no bucket's name. Files that programs write there become objects by
themselves; their content type is guessed from the name. What GCS allows and a folder can't
hold is refused; what a folder can hold and GCS can't name is not seen.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

from footplate.buckets.bindings import BucketBinding
from footplate.buckets.checksums import Digest
from footplate.buckets.disk_errors import disk_errors_as_service_errors
from footplate.buckets.empty_directories import remove_empty_tree
from footplate.buckets.file_state import time_of
from footplate.buckets.listing import NameListing, Window
from footplate.buckets.names import check_bucket_name, check_object_name, parse_object_name
from footplate.buckets.object_metadata import Records
from footplate.buckets.objects import Objects
from footplate.buckets.recorded_files import RecordedFiles
from footplate.buckets.remote_objects import RemoteObjects
from footplate.buckets.staging import (
    is_staged,
    read_chunks,
    staged,
    staged_outside,
    sweep,
    sweep_outside,
)
from footplate.buckets.uploads import Uploads
from footplate.domain.bucket_locations import DEFAULT_LOCATION
from footplate.domain.errors import (
    AlreadyExists,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    Unavailable,
)
from footplate.domain.names import GcsUri
from footplate.file_lock import FileLock
from footplate.ports.buckets import Bucket, Listing, ObjectInfo
from footplate.ports.clock import Clock
from footplate.ports.object_storage import Checksums, Conditions, Draft, Upload

_OWN = ".footplate"


class FolderBuckets:
    """Implements ``ports.object_storage.ObjectStorage``; safe for threads and processes.

    The processes must be on one machine. At first it removes what a dead process left unfinished.
    The folders of ``bindings``, which have been checked, are buckets, too. ``remotes`` has the
    objects of buckets that are bound to other stores. Raises DataLoss: the records of the objects
    are lost.
    """

    def __init__(
        self,
        root: Path,
        clock: Clock,
        new_id: Callable[[], str] = lambda: secrets.token_hex(16),
        bindings: Sequence[BucketBinding] = (),
        remotes: Mapping[str, RemoteObjects] | None = None,
    ) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = root.resolve()
        self._clock = clock
        self._new_id = new_id
        uploads = self._root / _OWN / "uploads"
        (self._root / _OWN).mkdir(exist_ok=True)
        # The folder is made once there are records, and says from then on that there are.
        self._records = Records(self._root / _OWN / "objects.db", lost=uploads.exists())
        self._staging = self._root / _OWN / "staging"
        self._staged_outside = self._root / _OWN / "staged-outside"
        for directory in (self._staging, self._staged_outside):
            directory.mkdir(exist_ok=True)
        sweep(self._staging)
        uploads.mkdir(exist_ok=True)
        self._uploads = Uploads(uploads, new_id)
        self._uploads.sweep(clock.now())
        self._lock = FileLock(self._root / _OWN / "lock")
        self._bindings = {binding.name: binding for binding in bindings}
        folders = {binding.name: binding.folder for binding in bindings}
        self._bound = {name: folder for name, folder in folders.items() if folder is not None}
        self._remotes = remotes or {}
        self._files = RecordedFiles(self._root, self._records, clock, self._lock, self._bound)
        self._objects = Objects(self._files, self._records, clock, self._lock)
        for binding in bindings:
            self._keep_binding(binding)
        writable = [self._bound.get(each.name) for each in bindings if not each.read_only]
        sweep_outside(self._staged_outside, writable)

    def close(self) -> None:
        self._records.close()
        self._lock.close()
        for remote in self._remotes.values():
            remote.close()

    def buckets(self) -> tuple[Bucket, ...]:
        with disk_errors_as_service_errors():
            names = {entry.name for entry in self._root.iterdir()}
        found = []
        for name in sorted(names | self._bindings.keys()):
            with suppress(InvalidArgument, NotFound):  # something else that lies there
                found.append(self.bucket(name))
        return tuple(found)

    def bucket(self, name: str) -> Bucket:
        binding = self._bindings.get(name)
        record = self._records.bucket(name)
        labels, metageneration = self._records.labels(name)
        if binding is not None and record is not None:  # also where its folder is away
            return Bucket(
                name,
                *record,
                target=binding.target,
                read_only=binding.read_only,
                remote=name in self._remotes,
                labels=labels,
                metageneration=metageneration,
            )
        folder = self._files.folder(name)
        if record is None:  # another process created the folder
            return Bucket(name, time_of(folder.stat()))
        return Bucket(name, *record, labels=labels, metageneration=metageneration)

    def label_bucket(
        self, name: str, labels: Mapping[str, str], metageneration: int | None = None
    ) -> Bucket:
        bucket = self.bucket(name)
        if self._records.bucket(name) is None:
            self._records.add_bucket(name, bucket.create_time, bucket.location, bucket.project)
        if not self._records.label_bucket(name, labels, metageneration):
            raise FailedPrecondition(
                f"bucket {name!r} has changed since you read it, and has another metageneration "
                "now; read the bucket again"
            )
        return self.bucket(name)

    def assign_bucket(self, name: str, project: str) -> None:
        bucket = self.bucket(name)
        self._records.add_bucket(name, bucket.create_time, bucket.location, project)

    def create_bucket(
        self, name: str, location: str = DEFAULT_LOCATION, project: str | None = None
    ) -> Bucket:
        check_bucket_name(name)
        if name in self._bindings:
            raise AlreadyExists(f"bucket {name!r} already exists")
        now = self._clock.now()
        with disk_errors_as_service_errors():
            try:
                (self._root / name).mkdir()
            except FileExistsError:
                raise AlreadyExists(f"bucket {name!r} already exists") from None
        self._records.add_bucket(name, now, location, project)
        return Bucket(name, now, location, project)

    def delete_bucket(self, name: str) -> None:
        if name in self._bindings:
            raise FailedPrecondition(
                f"bucket {name!r} is bound to {self._bindings[name].target}; to unbind the "
                "bucket, remove its entry from the setting buckets, and restart the server"
            )
        self._files.folder(name)
        if self.list(name, limit=1).objects:
            raise FailedPrecondition(
                f"bucket {name} is not empty; `footplate storage rm --recursive gs://{name}` "
                "deletes the bucket with all its objects"
            )
        with disk_errors_as_service_errors():
            root = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
            try:
                gone = remove_empty_tree(name, root)
            finally:
                os.close(root)
        if not gone:
            raise FailedPrecondition(
                f"bucket {name!r} can't be deleted: it holds directories of a running job, or "
                "files that can't be objects"
            )
        self._records.drop_bucket(name)

    def stat(self, bucket: str, name: str) -> ObjectInfo:
        if bucket in self._remotes:
            return self._remotes[bucket].stat(name)
        return self._objects.stat(bucket, name)

    def read(self, bucket: str, name: str) -> BinaryIO:
        return self.open(bucket, name)[1]

    def open(self, bucket: str, name: str) -> tuple[ObjectInfo, BinaryIO]:
        if bucket in self._remotes:
            return self._remotes[bucket].open(name)
        return self._objects.open(bucket, name)

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
        conditions = Conditions(generation=if_generation)
        draft = Draft(bucket, name, content_type, dict(metadata or {}), conditions=conditions)
        return self.put(draft, chunks)

    def put(self, draft: Draft, chunks: Iterable[bytes]) -> ObjectInfo:
        self._require_writable(draft.bucket)
        if self._is_directory(draft):
            chunks = _nothing(chunks)
        with self._staged(draft.bucket, chunks) as (place, digest):
            return self._place(draft, place, digest)

    def update(self, draft: Draft) -> ObjectInfo:
        self._require_writable(draft.bucket)
        if draft.bucket in self._remotes:
            return self._remotes[draft.bucket].update(draft)
        return self._objects.update(draft)

    def delete(self, bucket: str, name: str) -> None:
        self.remove(bucket, name, Conditions())

    def remove(self, bucket: str, name: str, conditions: Conditions) -> None:
        self._require_writable(bucket)
        if bucket in self._remotes:
            self._remotes[bucket].remove(name, conditions)
        else:
            self._objects.remove(bucket, name, conditions)

    def list(
        self,
        bucket: str,
        *,
        prefix: str = "",
        delimiter: str = "",
        limit: int = 1000,
        token: str | None = None,
    ) -> Listing:
        return self.scan(
            bucket, prefix=prefix, delimiter=delimiter, limit=limit, start=token or "", end=""
        )

    def scan(
        self, bucket: str, *, prefix: str, delimiter: str, limit: int, start: str, end: str
    ) -> Listing:
        if bucket in self._remotes:
            return self._remotes[bucket].scan(
                prefix=prefix, delimiter=delimiter, limit=limit, start=start, end=end
            )
        folder = self._files.folder(bucket)
        placeholders = self._records.placeholders(bucket, prefix)
        ours = partial(is_staged, self._staged_outside) if bucket in self._bound else None
        walk = NameListing(folder, Window(prefix, start, end), placeholders, ours)
        names: list[str] = []
        prefixes: list[str] = []
        following = None
        with disk_errors_as_service_errors():
            for name, is_prefix in walk.entries(delimiter):
                if len(names) + len(prefixes) == limit:
                    following = name
                    break
                (prefixes if is_prefix else names).append(name)
        return Listing(self._objects.describe(bucket, names), tuple(prefixes), following)

    def local_path(self, uri: GcsUri) -> Path | None:
        if uri.bucket in self._remotes:
            return None
        folder = self._files.folder(uri.bucket)
        if not uri.path:
            return folder
        path = folder.joinpath(*parse_object_name(uri.path).parts)
        real = path.resolve()
        if real != path and not (real.is_relative_to(folder) and real.is_file()):
            raise InvalidArgument(
                f"{uri} leads through a link in the bucket's folder; the service follows no links"
            )
        return path

    def begin_upload(self, draft: Draft) -> str:
        self._require_writable(draft.bucket)
        self._is_directory(draft)
        return self._uploads.begin(draft)

    def upload(self, upload_id: str) -> Upload:
        draft, done = self._uploads.read(upload_id)
        if done:
            result = self.stat(draft.bucket, draft.name)
            return Upload(draft.bucket, result.size_bytes, result)
        return Upload(draft.bucket, self._uploads.received_bytes(upload_id), None)

    def append(self, upload_id: str, offset: int, chunks: Iterable[bytes]) -> int:
        with self._uploads.claimed(upload_id):
            draft, done = self._uploads.read(upload_id)
            if done:
                return self.stat(draft.bucket, draft.name).size_bytes
            if self._is_directory(draft):
                chunks = _nothing(chunks)
            return self._uploads.append(upload_id, offset, chunks)

    def finish_upload(self, upload_id: str, checksums: Checksums) -> ObjectInfo:
        with self._uploads.claimed(upload_id):
            draft, done = self._uploads.read(upload_id)
            if done:
                return self.stat(draft.bucket, draft.name)
            try:
                info = self._place_upload(upload_id, draft, checksums)
            except Unavailable:
                raise  # the client may ask again
            except Exception:
                self._uploads.forget(upload_id)
                raise
            self._uploads.finish(upload_id)
        return info

    def abandon_upload(self, upload_id: str) -> None:
        with self._uploads.claimed(upload_id):
            self._uploads.read(upload_id)
            self._uploads.forget(upload_id)

    def _place_upload(self, upload_id: str, draft: Draft, checksums: Checksums) -> ObjectInfo:
        self._require_writable(draft.bucket)
        digest = self._uploads.digest(upload_id)
        checksums.check(digest.crc32c, digest.md5)
        data = self._uploads.data(upload_id)
        if draft.bucket not in self._bound:
            return self._place(draft, data, digest)
        # It may be another file system.
        with self._staged(draft.bucket, read_chunks(data)) as (place, digest):
            return self._place(draft, place, digest)

    def _place(self, draft: Draft, source: Path, digest: Digest) -> ObjectInfo:
        if draft.bucket in self._remotes:
            return self._remotes[draft.bucket].place(draft, source, digest)
        if self._is_directory(draft):
            return self._objects.place_directory(draft, digest)
        return self._objects.place(draft, source, digest)

    def _is_directory(self, draft: Draft) -> bool:
        """Returns whether the object is a directory. Raises InvalidArgument: its name is wrong."""
        if draft.bucket in self._remotes:
            check_object_name(draft.name)
            return False
        return parse_object_name(draft.name).directory

    def _staged(
        self, bucket: str, chunks: Iterable[bytes]
    ) -> AbstractContextManager[tuple[Path, Digest]]:
        """Returns a context with the file for a new object's bytes, on the bucket's file system."""
        folder = self._bound.get(bucket)
        if folder is None:
            return staged(self._staging / self._new_id(), chunks)
        return staged_outside(self._staged_outside, folder, self._new_id(), chunks)

    def _require_writable(self, bucket: str) -> None:
        """Checks that a bucket is writable.

        Raises PermissionDenied, and what ``RecordedFiles.folder`` raises.
        """
        binding = self._bindings.get(bucket)
        if binding is not None and binding.read_only:
            raise PermissionDenied(
                f"bucket {bucket!r} is read-only: the setting buckets has read_only = true "
                f"for {binding.target}"
            )
        if bucket not in self._remotes:
            self._files.folder(bucket)

    def _keep_binding(self, binding: BucketBinding) -> None:
        """Stores a record for a bound bucket; a project that was assigned before stays."""
        found = self._records.bucket(binding.name)
        created, location, project = found or (self._clock.now(), DEFAULT_LOCATION, None)
        project = binding.project or project
        if found != (created, location, project):
            self._records.add_bucket(binding.name, created, location, project)


def _nothing(chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        if chunk:
            raise InvalidArgument(
                "this bucket is a folder, where an object whose name ends in '/' can't have "
                "content; GCS would accept the object"
            )
        yield chunk
