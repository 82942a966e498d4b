"""The buckets port."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol

from footplate.domain.bucket_locations import DEFAULT_LOCATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from footplate.domain.names import GcsUri


@dataclass(frozen=True)
class Bucket:
    """``location`` as Cloud Storage writes it: a region or more, in capitals.

    ``project``: the one that it belongs to; None: unknown, so the programs of all may use it.
    ``target``: what it is bound to outside the data directory; None: nothing. ``remote``: that is
    no folder of this machine.
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
    """An object's metadata. ``crc32c`` is the checksum as a number (Castagnoli).

    In a listing it may be None, where finding it out means reading much; elsewhere it's there.
    ``md5`` is there for objects that came whole through the API. ``headers`` are those of
    Cache-Control, Content-Disposition, Content-Encoding and Content-Language that were given,
    by their JSON names.
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
    """Names are checked here: a hostile one (``..``, absolute, too long) raises InvalidArgument."""

    def buckets(self) -> tuple[Bucket, ...]: ...

    def bucket(self, name: str) -> Bucket:
        """Raises NotFound, naming the bucket."""
        ...

    def create_bucket(
        self, name: str, location: str = DEFAULT_LOCATION, project: str | None = None
    ) -> Bucket:
        """Raises AlreadyExists; InvalidArgument for a name that GCS wouldn't take."""
        ...

    def stat(self, bucket: str, name: str) -> ObjectInfo:
        """Raises NotFound."""
        ...

    def read(self, bucket: str, name: str) -> BinaryIO:
        """Returns the object's bytes from its beginning; the caller closes. Raises NotFound."""
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
        """Makes or replaces an object; readers see the old one or the new one, never a part.

        ``if_generation``: only if the object's generation is this one (0: if there is none).

        Raises:
            NotFound: the bucket isn't there.
            FailedPrecondition: the generation is another.
            Unavailable: the disk is full; nothing was changed.
        """
        ...

    def delete(self, bucket: str, name: str) -> None:
        """Raises NotFound."""
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
        """Raises NotFound for the bucket."""
        ...

    def local_path(self, uri: GcsUri) -> Path | None:
        """Returns where programs of this machine find ``uri``; None if the bucket isn't a folder.

        Raises NotFound for the bucket, InvalidArgument for a hostile path.
        """
        ...
