"""The buckets port."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from footplate.domain.bucket_locations import DEFAULT_LOCATION
from footplate.domain.names import GcsUri


@dataclass(frozen=True)
class Bucket:
    """A bucket; ``location`` is a region or several, in capitals, as Cloud Storage writes it.

    ``project`` owns the bucket; None: unknown, so the programs of all projects may use it.
    ``target`` is the storage outside the data directory to which it is bound; None: there is none.
    ``remote``: the target is not a folder of this machine.
    """

    name: str
    create_time: datetime
    location: str = DEFAULT_LOCATION
    project: str | None = None
    target: str | None = None
    read_only: bool = False
    remote: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
    metageneration: int = 1


@dataclass(frozen=True)
class ObjectInfo:
    """An object's metadata; ``crc32c`` is its checksum (Castagnoli) as a number.

    In a listing the checksum may be None, if computing it requires reading much; elsewhere it is
    set. ``md5`` is set for objects that came through the API as a whole. ``headers`` has the given
    values of Cache-Control, Content-Disposition, Content-Encoding and Content-Language, by their
    JSON names.
    """

    bucket: str
    name: str
    size_bytes: int
    crc32c: int | None
    generation: int
    update_time: datetime
    content_type: str = "application/octet-stream"
    metadata: Mapping[str, str] = field(default_factory=dict)
    metageneration: int = 1
    md5: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Listing:
    """Objects and, below a delimiter, common prefixes, each in the order of their names."""

    objects: tuple[ObjectInfo, ...]
    prefixes: tuple[str, ...]
    next_token: str | None


class Buckets(Protocol):
    """The buckets; a hostile name (``..``, absolute, too long) raises InvalidArgument."""

    def buckets(self) -> tuple[Bucket, ...]: ...

    def bucket(self, name: str) -> Bucket:
        """Returns the bucket of this name. Raises NotFound, which names the bucket."""
        ...

    def create_bucket(
        self, name: str, location: str = DEFAULT_LOCATION, project: str | None = None
    ) -> Bucket:
        """Creates a bucket. Raises AlreadyExists; InvalidArgument: GCS would refuse the name."""
        ...

    def stat(self, bucket: str, name: str) -> ObjectInfo:
        """Returns an object's metadata. Raises NotFound."""
        ...

    def read(self, bucket: str, name: str) -> BinaryIO:
        """Opens an object for reading; the caller closes it. Raises NotFound."""
        ...

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
        """Creates or replaces an object; readers see the old one or the new one, never a part.

        With ``if_generation`` it does so only if the object has this generation (0: doesn't exist).

        Raises:
            NotFound: the bucket doesn't exist.
            FailedPrecondition: the object has another generation.
            Unavailable: the disk is full; nothing was changed.
        """
        ...

    def delete(self, bucket: str, name: str) -> None:
        """Deletes an object. Raises NotFound."""
        ...

    def list(
        self,
        bucket: str,
        *,
        prefix: str = "",
        delimiter: str = "",
        limit: int = 1000,
        token: str | None = None,
    ) -> Listing:
        """Lists objects. Raises NotFound: the bucket doesn't exist."""
        ...

    def local_path(self, uri: GcsUri) -> Path | None:
        """Returns the path of ``uri`` for programs of this machine; None: it isn't in a folder.

        Raises NotFound: the bucket doesn't exist; InvalidArgument: the path is hostile.
        """
        ...
