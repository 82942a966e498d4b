"""The operations on buckets that the storage API needs, beyond the buckets port."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol

from footplate.domain.errors import InvalidArgument
from footplate.ports.buckets import Bucket, Buckets, Listing, ObjectInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True)
class Checksums:
    """Checksums that a client sent; None: not sent."""

    crc32c: int | None = None
    md5: bytes | None = None

    def check(self, crc32c: int, md5: bytes) -> None:
        """Raises InvalidArgument if the bytes that arrived add up to something else."""
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
    """A resumable upload: how far it is, and the object that it became, once it has."""

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
        """Gives the bucket these labels alone, and its next metageneration.

        Raises NotFound; FailedPrecondition if its metageneration isn't the one given.
        """
        ...

    def delete_bucket(self, name: str) -> None:
        """Raises NotFound; FailedPrecondition if there are objects in it."""
        ...

    def open(self, bucket: str, name: str) -> tuple[ObjectInfo, BinaryIO]:
        """Returns an object's metadata and its bytes, both of one moment. Raises NotFound.

        A program may be appending to it: take no more than ``size_bytes``.
        """
        ...

    def put(self, draft: Draft, chunks: Iterable[bytes]) -> ObjectInfo:
        """Does what ``write`` does; raises InvalidArgument if the draft's checksums don't match."""
        ...

    def update(self, draft: Draft) -> ObjectInfo:
        """Gives an object the description of ``draft``, its bytes as they are.

        Raises NotFound, FailedPrecondition.
        """
        ...

    def remove(self, bucket: str, name: str, conditions: Conditions) -> None:
        """Does what ``delete`` does; raises FailedPrecondition, too."""
        ...

    def scan(
        self, bucket: str, *, prefix: str, delimiter: str, limit: int, start: str, end: str
    ) -> Listing:
        """Lists as ``list`` does the names from ``start`` to before ``end`` (empty: no bound).

        ``next_token`` is the ``start`` of the next page.
        """
        ...

    def begin_upload(self, draft: Draft) -> str:
        """Returns the id of a new resumable upload; it outlives a restart of the service."""
        ...

    def upload(self, upload_id: str) -> Upload:
        """Raises NotFound."""
        ...

    def append(self, upload_id: str, offset: int, chunks: Iterable[bytes]) -> int:
        """Adds bytes that begin at ``offset`` of the object; those that are there are left out.

        What arrived before an error stays. Returns how many bytes of the object are there.

        Raises:
            NotFound: no such upload.
            OutOfRange: bytes between those that are there and ``offset`` are missing.
            Aborted: another request is adding to it.
            Unavailable: the disk is full.
        """
        ...

    def finish_upload(self, upload_id: str, checksums: Checksums) -> ObjectInfo:
        """Makes the object; a second call returns what it became. An error ends the upload.

        Raises as ``put`` does.
        """
        ...

    def abandon_upload(self, upload_id: str) -> None:
        """Raises NotFound."""
        ...
