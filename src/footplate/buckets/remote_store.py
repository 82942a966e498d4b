"""The interface of object storage outside a folder, as a bucket needs it: objects by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from footplate.ports.object_storage import Conditions


@dataclass(frozen=True)
class RemoteObject:
    """An object in the store.

    ``version`` is the store's identifier of one state of the object, ``generation`` a number for
    that state.
    """

    key: str
    size_bytes: int
    version: str
    generation: int
    update_time: datetime
    content_type: str
    crc32c: int | None = None
    md5: bytes | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    metageneration: int = 1
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RemoteDraft:
    """The metadata of a new object; ``crc32c`` and ``md5`` are those of its bytes."""

    key: str
    content_type: str
    metadata: Mapping[str, str]
    headers: Mapping[str, str]
    crc32c: int
    md5: bytes


@dataclass(frozen=True)
class RemotePage:
    """A page of a listing; ``complete``: there are no more names."""

    objects: tuple[RemoteObject, ...]
    prefixes: tuple[str, ...]
    complete: bool


class RemoteStore(Protocol):
    """A bucket of a store, or the part below a prefix; safe for many threads.

    All methods raise errors that clients may see: NotFound for an object, PermissionDenied,
    FailedPrecondition, and Unavailable if the store can't be reached.
    """

    def list(self, prefix: str, delimiter: str, start: str, limit: int) -> RemotePage:
        """Returns up to ``limit`` keys and common prefixes with ``prefix``, from ``start`` on."""
        ...

    def stat(self, key: str) -> RemoteObject: ...

    def read(self, found: RemoteObject, start: int, end: int) -> bytes:
        """Returns the bytes from ``start`` to before ``end``.

        Raises Aborted: the object has been replaced.
        """
        ...

    def put(self, draft: RemoteDraft, path: Path, conditions: Conditions) -> RemoteObject:
        """Creates or replaces an object with the content of a file."""
        ...

    def update(self, draft: RemoteDraft, found: RemoteObject) -> RemoteObject:
        """Replaces the object's metadata by that of ``draft``; its content stays."""
        ...

    def delete(self, found: RemoteObject) -> None: ...

    def close(self) -> None: ...
