"""Resumable uploads: bytes gathered over many requests, kept over restarts.

An upload is two files: its description, and the bytes that are there so far, whose number
is the size of that file.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import threading
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from footplate.buckets.digest import Digest, digest_file
from footplate.buckets.disk_errors import told_to_clients
from footplate.buckets.staging import write_all
from footplate.domain.errors import Aborted, NotFound, OutOfRange
from footplate.ports.object_storage import Checksums, Conditions, Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

KEPT = timedelta(days=7)
"""How long an upload that nobody goes on with is kept; GCS's own limit."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Uploads:
    """Safe to be used by many threads; one request at a time may work on one upload."""

    def __init__(self, directory: Path, new_id: Callable[[], str]) -> None:
        self._directory = directory
        self._new_id = new_id
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._digests: dict[str, Digest] = {}

    def sweep(self, now: datetime) -> None:
        """Forget the uploads that nobody goes on with."""
        for path in self._directory.iterdir():
            with suppress(OSError, ValueError, OverflowError):  # what a program put there
                if now - datetime.fromtimestamp(path.lstat().st_mtime, UTC) > KEPT:
                    path.unlink()

    def begin(self, draft: Draft) -> str:
        upload_id = self._new_id()
        with told_to_clients():
            self.data(upload_id).touch()
            self._write(upload_id, {"draft": _encode(draft), "done": False})
        return upload_id

    def read(self, upload_id: str) -> tuple[Draft, bool]:
        """What was said at its beginning, and whether it has become an object."""
        if not _ID.fullmatch(upload_id):
            raise NotFound("there is no such upload")
        try:
            with told_to_clients():
                document = json.loads(self._description(upload_id).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise NotFound(f"upload {upload_id!r} is not there (any more); begin again") from None
        return _decode(document["draft"]), document["done"] or not self.data(upload_id).exists()

    def received_bytes(self, upload_id: str) -> int:
        return self.data(upload_id).stat().st_size

    def append(self, upload_id: str, offset: int, chunks: Iterable[bytes]) -> int:
        """As the port says; the upload is claimed by the caller."""
        with self.data(upload_id).open("r+b", buffering=0) as file:
            digest, there = self._digests.pop(upload_id, None), file.seek(0, os.SEEK_END)
            if offset > there:
                raise OutOfRange(f"{there} bytes are there; the next ones begin at {offset}")
            if digest is None or digest.size_bytes != there:
                file.seek(0)
                digest = digest_file(file)
            skip = there - offset
            for chunk in chunks:
                new = chunk[skip:]
                skip = max(0, skip - len(chunk))
                with told_to_clients(), _whole(file.fileno(), digest.size_bytes):
                    write_all(file.fileno(), new)
                digest.add(new)
                self._digests[upload_id] = digest
        return digest.size_bytes

    def digest(self, upload_id: str) -> Digest:
        """Of all bytes, which are on the disk for good afterwards."""
        with told_to_clients(), self.data(upload_id).open("r+b") as file:
            os.fsync(file.fileno())
            digest = self._digests.pop(upload_id, None)
            if digest is None or digest.size_bytes != os.fstat(file.fileno()).st_size:
                digest = digest_file(file)
        return digest

    def finish(self, upload_id: str) -> None:
        """Remember that it has become an object, for a client that asks again."""
        draft, _ = self.read(upload_id)
        self._write(upload_id, {"draft": _encode(draft), "done": True})
        self.data(upload_id).unlink(missing_ok=True)

    def forget(self, upload_id: str) -> None:
        self._digests.pop(upload_id, None)
        self._description(upload_id).unlink(missing_ok=True)
        self.data(upload_id).unlink(missing_ok=True)

    @contextmanager
    def claimed(self, upload_id: str) -> Iterator[None]:
        """Raises Aborted if another request, of whichever server, is working on it."""
        busy = Aborted(f"another request is adding to upload {upload_id!r}; ask again")
        with self._lock:
            if upload_id in self._busy:
                raise busy
            self._busy.add(upload_id)
        try:
            with ExitStack() as claim:
                if not self._lock_data(upload_id, claim):
                    raise busy
                yield
        finally:
            with self._lock:
                self._busy.discard(upload_id)

    def _lock_data(self, upload_id: str, claim: ExitStack) -> bool:
        """False: another process has it. What has no bytes (any more) nobody can add to."""
        if not _ID.fullmatch(upload_id):
            return True
        try:
            descriptor = os.open(self.data(upload_id), os.O_RDONLY | os.O_CLOEXEC)
            claim.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True

    def data(self, upload_id: str) -> Path:
        return self._directory / f"{upload_id}.data"

    def _description(self, upload_id: str) -> Path:
        return self._directory / f"{upload_id}.json"

    def _write(self, upload_id: str, document: dict[str, object]) -> None:
        new = self._directory / f"{upload_id}.new"
        new.write_text(json.dumps(document), encoding="utf-8")
        new.replace(self._description(upload_id))


@contextmanager
def _whole(descriptor: int, size_bytes: int) -> Iterator[None]:
    """A write that the disk refuses leaves nothing of itself."""
    try:
        yield
    except OSError:
        os.ftruncate(descriptor, size_bytes)
        raise


def _encode(draft: Draft) -> dict[str, object]:
    md5 = draft.checksums.md5
    checksums = {"crc32c": draft.checksums.crc32c, "md5": md5.hex() if md5 else None}
    return asdict(draft) | {"checksums": checksums}


def _decode(document: dict[str, Any]) -> Draft:  # JSON that this module wrote
    crc32c, md5 = document["checksums"]["crc32c"], document["checksums"]["md5"]
    checksums = Checksums(crc32c, bytes.fromhex(md5) if md5 else None)
    conditions = Conditions(**document["conditions"])
    return Draft(**(document | {"checksums": checksums, "conditions": conditions}))
