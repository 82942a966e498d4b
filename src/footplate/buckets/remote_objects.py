"""The objects of a bucket that is bound to a remote store."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from footplate.buckets.checksums import Digest
from footplate.buckets.names import check_object_name
from footplate.buckets.remote_store import RemoteDraft, RemoteObject, RemoteStore
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.ports.buckets import Listing, ObjectInfo
from footplate.ports.object_storage import Conditions, Draft

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_SURROGATES, _BEHIND_SURROGATES = 0xD800, 0xE000
"""No name has characters between them."""
_READ_BYTES = 8 << 20
"""What one request for an object's bytes asks for."""


class RemoteObjects:
    """The objects of a remote bucket; ``target`` is the storage to which it is bound."""

    def __init__(self, name: str, target: str, store: RemoteStore) -> None:
        self.target = target
        self._name = name
        self._store = store

    def close(self) -> None:
        self._store.close()

    def open(self, name: str) -> tuple[ObjectInfo, BinaryIO]:
        """Opens an object; see the port. Reading raises Aborted once it is replaced."""
        found = self._find(name)
        raw = _RemoteFile(self._store, found)
        return self._info(found), cast("BinaryIO", io.BufferedReader(raw, _READ_BYTES))

    def stat(self, name: str) -> ObjectInfo:
        return self._info(self._find(name))

    def place(self, draft: Draft, source: Path, digest: Digest) -> ObjectInfo:
        """Uploads a file as an object."""
        draft.checksums.check(digest.crc32c, digest.md5)
        if draft.conditions != Conditions():
            try:
                found = self._find(draft.name)
            except NotFound:
                self._check(draft.conditions, None)
            else:
                self._check(draft.conditions, found)
        made = RemoteDraft(
            draft.name,
            draft.content_type,
            draft.metadata,
            draft.headers,
            digest.crc32c,
            digest.md5,
        )
        return self._info(self._store.put(made, source, draft.conditions))

    def update(self, draft: Draft) -> ObjectInfo:
        found = self._find(draft.name)
        self._check(draft.conditions, found)
        changed = RemoteDraft(
            draft.name,
            draft.content_type,
            draft.metadata,
            draft.headers,
            found.crc32c or 0,
            found.md5 or b"",
        )
        return self._info(self._store.update(changed, found))

    def remove(self, name: str, conditions: Conditions) -> None:
        found = self._find(name)
        self._check(conditions, found)
        self._store.delete(found)

    def scan(self, *, prefix: str, delimiter: str, limit: int, start: str, end: str) -> Listing:
        """Lists objects; see the port."""
        objects: list[ObjectInfo] = []
        prefixes: list[str] = []
        position = start
        while True:
            page = self._store.list(prefix, delimiter, position, limit + 1)
            entries: list[tuple[str, RemoteObject | None]] = [(p, None) for p in page.prefixes]
            entries += [(found.key, found) for found in page.objects]
            for key, found in sorted(entries, key=lambda entry: entry[0]):
                if end and key >= end:
                    return Listing(tuple(objects), tuple(prefixes), None)
                position = f"{key}\0" if found else _past(key)
                if key < start and not (found is None and start.startswith(key)):
                    continue
                if len(objects) + len(prefixes) == limit:
                    return Listing(tuple(objects), tuple(prefixes), key)
                if found is None:
                    prefixes.append(key)
                else:
                    objects.append(self._info(found))
            if page.complete:
                return Listing(tuple(objects), tuple(prefixes), None)

    def _find(self, name: str) -> RemoteObject:
        check_object_name(name)
        try:
            return self._store.stat(name)
        except NotFound:
            raise NotFound(f"object {name!r} does not exist in bucket {self._name!r}") from None

    def _check(self, conditions: Conditions, found: RemoteObject | None) -> None:
        info = None if found is None else self._info(found)
        if not conditions.hold(info):
            existing = "no object" if info is None else f"generation {info.generation}"
            raise FailedPrecondition(
                f"the request's condition doesn't hold: the bucket has {existing} with this name"
            )

    def _info(self, found: RemoteObject) -> ObjectInfo:
        return ObjectInfo(
            bucket=self._name,
            name=found.key,
            size_bytes=found.size_bytes,
            crc32c=found.crc32c,
            generation=found.generation,
            update_time=found.update_time,
            content_type=found.content_type,
            metadata=found.metadata,
            metageneration=found.metageneration,
            md5=found.md5,
            headers=found.headers,
        )


class _RemoteFile(io.RawIOBase):
    """A remote object as a file, which reads one range at a time."""

    def __init__(self, store: RemoteStore, found: RemoteObject) -> None:
        self._store = store
        self._found = found
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._found.size_bytes}
        self._position = base[whence] + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readall(self) -> bytes:
        """Reads everything in few requests; the inherited method makes many small ones."""
        parts = []
        while part := self.read(_READ_BYTES):
            parts.append(part)
        return b"".join(parts)

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        end = min(self._position + len(view), self._found.size_bytes)
        if end <= self._position:
            return 0
        content = self._store.read(self._found, self._position, end)
        view[: len(content)] = content
        self._position += len(content)
        return len(content)


def _past(prefix: str) -> str:
    """Returns the first name after all names that begin with ``prefix``."""
    following = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(_BEHIND_SURROGATES if following == _SURROGATES else following)
