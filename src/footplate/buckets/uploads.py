"""Resumable uploads, stored on disk between requests and across restarts.

An upload is two files: its description, and the bytes that are there so far, whose number
is the size of that file. Programs may be able to write there: what they put in place of one of
ours, a link above all, is not followed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from io import FileIO
from pathlib import Path
from typing import Any

from footplate.buckets.checksums import Digest, digest_file
from footplate.buckets.disk_errors import disk_errors_as_service_errors
from footplate.buckets.staging import write_all
from footplate.domain.errors import Aborted, NotFound, OutOfRange
from footplate.ports.object_storage import Checksums, Conditions, Draft
from footplate.safe_path import NotRegular, open_regular

KEPT = timedelta(days=7)
"""How long an upload that nobody goes on with is kept; GCS's own limit."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MODES = {os.O_RDONLY: "r", os.O_WRONLY: "w", os.O_RDWR: "r+"}


class Uploads:
    """The resumable uploads; thread-safe, but only one request at a time may use an upload."""

    def __init__(self, directory: Path, new_id: Callable[[], str]) -> None:
        self._directory = directory
        self._new_id = new_id
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._digests: dict[str, Digest] = {}

    def sweep(self, now: datetime) -> None:
        """Deletes abandoned uploads."""
        for path in self._directory.iterdir():
            with suppress(OSError, ValueError, OverflowError):  # what a program put there
                if now - datetime.fromtimestamp(path.lstat().st_mtime, UTC) > KEPT:
                    path.unlink()

    def begin(self, draft: Draft) -> str:
        upload_id = self._new_id()
        with disk_errors_as_service_errors():
            self.data(upload_id).touch()
            self._write(upload_id, {"draft": _encode(draft), "done": False})
        return upload_id

    def read(self, upload_id: str) -> tuple[Draft, bool]:
        """Returns the upload's parameters, and whether it has become an object."""
        if not _ID.fullmatch(upload_id):
            raise NotFound("this upload does not exist; begin a new upload")
        try:
            with (
                disk_errors_as_service_errors(),
                _opened(self._description(upload_id), os.O_RDONLY) as file,
            ):
                document = json.loads(file.read())
            draft = _decode(document["draft"])
        except FileNotFoundError:
            raise NotFound(
                f"upload {upload_id!r} does not exist, or has been deleted; begin a new upload"
            ) from None
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise NotFound(
                f"the record of upload {upload_id!r} is damaged; begin a new upload"
            ) from None
        # The data is moved as the object is made. Where it is missing, a server died between that
        # and ``finish``.
        return draft, bool(document["done"]) or not self.data(upload_id).exists()

    def received_bytes(self, upload_id: str) -> int:
        with _opened(self.data(upload_id), os.O_RDONLY) as file:
            return os.fstat(file.fileno()).st_size

    def append(self, upload_id: str, offset: int, chunks: Iterable[bytes]) -> int:
        """Adds bytes to an upload that the caller has claimed; see the port."""
        with _opened(self.data(upload_id), os.O_RDWR) as file:
            digest, there = self._digests.pop(upload_id, None), file.seek(0, os.SEEK_END)
            if offset > there:
                raise OutOfRange(
                    f"the upload has {there} bytes so far, but this request's "
                    f"bytes begin at {offset}"
                )
            if digest is None or digest.size_bytes != there:
                file.seek(0)
                digest = digest_file(file)
            skip = there - offset
            for chunk in chunks:
                new = chunk[skip:]
                skip = max(0, skip - len(chunk))
                with disk_errors_as_service_errors(), _whole(file.fileno(), digest.size_bytes):
                    write_all(file.fileno(), new)
                digest.add(new)
                self._digests[upload_id] = digest
        return digest.size_bytes

    def digest(self, upload_id: str) -> Digest:
        """Writes all bytes durably to disk, and returns their digest."""
        with disk_errors_as_service_errors(), _opened(self.data(upload_id), os.O_RDWR) as file:
            os.fsync(file.fileno())
            digest = self._digests.pop(upload_id, None)
            if digest is None or digest.size_bytes != os.fstat(file.fileno()).st_size:
                digest = digest_file(file)
        return digest

    def finish(self, upload_id: str) -> None:
        """Records that the upload has become an object, for a client that asks again."""
        draft, _ = self.read(upload_id)
        self._write(upload_id, {"draft": _encode(draft), "done": True})
        self.data(upload_id).unlink(missing_ok=True)

    def forget(self, upload_id: str) -> None:
        self._digests.pop(upload_id, None)
        self._description(upload_id).unlink(missing_ok=True)
        with suppress(IsADirectoryError):  # what a program put there
            self.data(upload_id).unlink(missing_ok=True)

    @contextmanager
    def claimed(self, upload_id: str) -> Iterator[None]:
        """Claims an upload for the block.

        Raises Aborted: another request, on any server, is using it.
        """
        busy = Aborted(f"another request is writing to upload {upload_id!r}; try again")
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
        """Locks an upload; False: another process has it. One without a file needs no lock."""
        if not _ID.fullmatch(upload_id):
            return True
        try:
            with disk_errors_as_service_errors():
                file = _opened(self.data(upload_id), os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError, NotFound):
            return True
        claim.callback(file.close)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def data(self, upload_id: str) -> Path:
        return self._directory / f"{upload_id}.data"

    def _description(self, upload_id: str) -> Path:
        return self._directory / f"{upload_id}.json"

    def _write(self, upload_id: str, document: dict[str, object]) -> None:
        new = self._directory / f"{upload_id}.new"
        new.unlink(missing_ok=True)
        with _opened(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as file:
            write_all(file.fileno(), json.dumps(document).encode())
        new.replace(self._description(upload_id))


def _opened(path: Path, flags: int) -> FileIO:
    """Opens a file of an upload. Raises OSError; NotFound: it is not a regular file."""
    try:
        return FileIO(open_regular(path, flags), _MODES[flags & os.O_ACCMODE])
    except NotRegular:
        raise NotFound(
            f"the file {path.name} doesn't belong to an upload; begin a new upload"
        ) from None


@contextmanager
def _whole(descriptor: int, size_bytes: int) -> Iterator[None]:
    """Context manager that removes what a failed write has written."""
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
