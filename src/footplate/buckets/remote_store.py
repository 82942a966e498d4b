"""The interface of object storage outside a folder, as a bucket needs it: objects by key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from footplate.ports.object_storage import Conditions


@dataclass(frozen=True)
class RemoteObject:
    """``version`` is what the store identifies one state of the object by.

    ``generation`` is a number of that state.
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
    """``crc32c`` and ``md5`` are those of its bytes."""

    key: str
    content_type: str
    metadata: Mapping[str, str]
    headers: Mapping[str, str]
    crc32c: int
    md5: bytes


@dataclass(frozen=True)
class RemotePage:
    """``complete``: there are no more names."""

    objects: tuple[RemoteObject, ...]
    prefixes: tuple[str, ...]
    complete: bool


class RemoteStore(Protocol):
    """One bucket of a store, or what is below a prefix of one. Safe to be used by many threads.

    All raise the errors that clients may see: NotFound for an object, PermissionDenied,
    FailedPrecondition, and Unavailable where the store can't be reached.
    """

    def list(self, prefix: str, delimiter: str, start: str, limit: int) -> RemotePage:
        """Returns up to ``limit`` keys and common prefixes of those that begin with ``prefix``.

        In order, from ``start`` on.
        """
        ...

    def stat(self, key: str) -> RemoteObject: ...

    def read(self, found: RemoteObject, start: int, end: int) -> bytes:
        """The bytes from ``start`` to before ``end``; Aborted: the object is another by now."""
        ...

    def put(self, draft: RemoteDraft, path: Path, conditions: Conditions) -> RemoteObject:
        """Makes or replaces an object of the file's bytes."""
        ...

    def update(self, draft: RemoteDraft, found: RemoteObject) -> RemoteObject:
        """Gives the object the description of ``draft``; its bytes stay as they are."""
        ...

    def delete(self, found: RemoteObject) -> None: ...

    def close(self) -> None: ...
