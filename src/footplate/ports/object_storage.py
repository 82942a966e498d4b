"""The operations on buckets that the storage API needs, beyond the buckets port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from footplate.domain.errors import InvalidArgument
from footplate.ports.buckets import Bucket, Buckets, Listing, ObjectInfo


@dataclass(frozen=True)
class Checksums:
    """The checksums that a client sent; None: not sent."""

    crc32c: int | None = None
    md5: bytes | None = None

    def check(self, crc32c: int, md5: bytes) -> None:
        """Compares the checksums of the received bytes. Raises InvalidArgument: they differ."""
        for kind, said, found in (("crc32c", self.crc32c, crc32c), ("md5", self.md5, md5)):
            if said is not None and said != found:
                raise InvalidArgument(
                    f"the bytes that arrived don't match the {kind} that the request gives"
                )


@dataclass(frozen=True)
class Conditions:
    """Preconditions on the existing object; generation 0 means that no object exists."""

    generation: int | None = None
    generation_not: int | None = None
    metageneration: int | None = None
    metageneration_not: int | None = None

    def hold(self, current: ObjectInfo | None) -> bool:
        generation = current.generation if current else 0
        metageneration = current.metageneration if current else 0
        return (
            self.generation in (None, generation)
            and self.metageneration in (None, metageneration)
            and self.generation_not != generation
            and self.metageneration_not != metageneration
        )


@dataclass(frozen=True)
class Draft:
    """An object's metadata before its content is uploaded."""

    bucket: str
    name: str
    content_type: str = "application/octet-stream"
    metadata: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    checksums: Checksums = Checksums()
    conditions: Conditions = Conditions()


@dataclass(frozen=True)
class Upload:
    """The progress of a resumable upload; ``result`` is the object once the upload is finished."""

    bucket: str
    received_bytes: int
    result: ObjectInfo | None


class ObjectStorage(Buckets, Protocol):
    def assign_bucket(self, name: str, project: str) -> None:
        """Makes the bucket belong to the project. Raises NotFound."""
        ...

    def label_bucket(
        self, name: str, labels: Mapping[str, str], metageneration: int | None = None
    ) -> Bucket:
        """Replaces the bucket's labels, and increases its metageneration.

        Raises NotFound; FailedPrecondition: the metageneration isn't the given one.
        """
        ...

    def delete_bucket(self, name: str) -> None:
        """Deletes a bucket. Raises NotFound; FailedPrecondition: it contains objects."""
        ...

    def open(self, bucket: str, name: str) -> tuple[ObjectInfo, BinaryIO]:
        """Returns an object's metadata and its open content, both of one moment. Raises NotFound.

        A program may be appending to the object, so read no more than ``size_bytes``.
        """
        ...

    def put(self, draft: Draft, chunks: Iterable[bytes]) -> ObjectInfo:
        """Writes an object, like ``write``.

        Raises InvalidArgument as well: the draft's checksums don't match.
        """
        ...

    def update(self, draft: Draft) -> ObjectInfo:
        """Replaces an object's metadata by that of ``draft``; its content stays.

        Raises NotFound, FailedPrecondition.
        """
        ...

    def remove(self, bucket: str, name: str, conditions: Conditions) -> None:
        """Deletes an object, like ``delete``.

        Raises FailedPrecondition as well: the conditions aren't fulfilled.
        """
        ...

    def scan(
        self, bucket: str, *, prefix: str, delimiter: str, limit: int, start: str, end: str
    ) -> Listing:
        """Lists, like ``list``, the names from ``start`` to before ``end`` (empty: no bound).

        ``next_token`` is the ``start`` of the next page.
        """
        ...

    def begin_upload(self, draft: Draft) -> str:
        """Returns the id of a new resumable upload, which survives a restart of the service."""
        ...

    def upload(self, upload_id: str) -> Upload:
        """Returns the progress of an upload. Raises NotFound."""
        ...

    def append(self, upload_id: str, offset: int, chunks: Iterable[bytes]) -> int:
        """Adds bytes that begin at ``offset`` of the object; skips those received before.

        Returns how many bytes of the object have been received. Those that arrived before an error
        are kept.

        Raises:
            NotFound: the upload doesn't exist.
            OutOfRange: bytes before ``offset`` are missing.
            Aborted: another request is adding to the upload.
            Unavailable: the disk is full.
        """
        ...

    def finish_upload(self, upload_id: str, checksums: Checksums) -> ObjectInfo:
        """Creates the object, and ends the upload even on an error; may be repeated.

        Raises what ``put`` raises.
        """
        ...

    def abandon_upload(self, upload_id: str) -> None:
        """Ends an upload without an object. Raises NotFound."""
        ...
