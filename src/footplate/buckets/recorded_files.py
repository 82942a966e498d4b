"""The files of buckets, each with the record of its object.

A file has the record that was stored for this state of it. A copy of such a file, as ``cp -a`` or a
restored backup makes it, gets the record with the same content. Any other file is a program's: it
becomes a new object.
"""

from __future__ import annotations

import io
import mimetypes
import os
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from footplate import safe_path
from footplate.buckets.checksums import checksum_file, digest_file
from footplate.buckets.disk_errors import disk_errors_as_service_errors
from footplate.buckets.file_state import FileState, look_at, may_be_copies
from footplate.buckets.names import check_bucket_name, parse_object_name
from footplate.buckets.object_metadata import Record, Records
from footplate.domain.errors import NotFound, Unavailable, no_bucket
from footplate.file_lock import FileLock
from footplate.ports.clock import Clock

_TYPES = mimetypes.MimeTypes()  # without the files of this machine
_DEFAULT_TYPE = "application/octet-stream"
_CLOCK_TICK = timedelta(milliseconds=50)
"""More than the grain of a file's times: a change within it may leave them as they were."""


class RecordedFiles:
    """The files of buckets, with a folder in ``root`` for each bucket; safe for many threads."""

    def __init__(
        self,
        root: Path,
        records: Records,
        clock: Clock,
        lock: FileLock,
        bound: Mapping[str, Path] | None = None,
    ) -> None:
        """Stores the dependencies.

        A caller must hold ``lock`` when it moves, removes or adopts a file, in any process.
        ``bound`` has the folders of buckets that aren't in ``root``, by name.
        """
        self._root = root
        self._bound = bound or {}
        self._records = records
        self._clock = clock
        self._lock = lock

    def folder(self, bucket: str) -> Path:
        """Returns a bucket's folder.

        Raises NotFound, InvalidArgument; Unavailable: the folder of a bound bucket is missing now.
        """
        check_bucket_name(bucket)
        path = self._bound.get(bucket) or self._root / bucket
        try:
            if stat.S_ISDIR(os.lstat(path).st_mode):
                return path
        except FileNotFoundError:
            pass
        if bucket in self._bound:
            raise Unavailable(
                f"bucket {bucket!r} is bound to the path {path}, which is not "
                "a folder now; make the folder, or mount its disk"
            )
        raise no_bucket(bucket)

    def open(self, bucket: str, name: str) -> tuple[FileState, Record, BinaryIO]:
        """Opens an object's file, and finds its record. Raises NotFound."""
        with disk_errors_as_service_errors():
            state, file = self.open_file(bucket, name)
            record = self._records.find(bucket, name, state.identity)
            if record is not None:
                return state, record, file
            file.close()
            self.recognize(bucket, {name: state})
            with self._lock.held():
                return self.open_locked(bucket, name)

    def open_locked(self, bucket: str, name: str) -> tuple[FileState, Record, BinaryIO]:
        """Does the same; the caller holds the lock."""
        state, file = self.open_file(bucket, name)
        try:
            return state, self.adopt(bucket, {name: state})[name], file
        except BaseException:
            file.close()
            raise

    def open_file(self, bucket: str, name: str) -> tuple[FileState, BinaryIO]:
        """Opens an object's file; a directory is an object only if it has a record."""
        folder, path = self.folder(bucket), parse_object_name(name)
        try:
            if not path.directory:
                file = os.fdopen(safe_path.open_file(folder, path.parts), "rb")
                return FileState.of(os.fstat(file.fileno())), file
            with safe_path.directory(folder, path.parts) as found:
                state = FileState.of(os.fstat(found))
        except (FileNotFoundError, NotADirectoryError):
            raise no_object(bucket, name) from None
        if self._records.find(bucket, name, state.identity) is None:
            raise no_object(bucket, name)
        return state, io.BytesIO()

    def recognize_one(self, bucket: str, name: str) -> None:
        """Does what ``recognize`` does, before an operation that has a condition."""
        with disk_errors_as_service_errors():
            self.recognize(bucket, dict(look_at(self.folder(bucket), [name])))

    def recognize(
        self, bucket: str, states: Mapping[str, FileState], budget: int | None = None
    ) -> dict[str, Record]:
        """Returns and stores records for files that are copies of earlier ones.

        The lock must not be held, because this may read large files. If ``budget`` bytes aren't
        enough for a file, its record is returned without checksums and not stored, which is good
        enough for a listing. Operations that change an object prove its content first.
        """
        found: dict[str, Record] = {}
        for name, known in self._copied(bucket, states).items():
            state = states[name]
            if budget is not None and state.size_bytes > budget:
                found[name] = replace(known[-1], crc32c=None, md5=None)
                continue
            budget = None if budget is None else budget - state.size_bytes
            record = self._prove(bucket, name, state, known)
            if record is not None:
                found[name] = record
        return found

    def _copied(self, bucket: str, states: Mapping[str, FileState]) -> dict[str, list[Record]]:
        """Returns the records, the newest last, of which a file may be a copy."""
        every = self._records.find_any(bucket, states)
        exact = {name for name, record in every if record.identity == states[name].identity}
        found: dict[str, list[Record]] = {}
        for name, record in sorted(every, key=lambda item: item[1].generation):
            may_be = may_be_copies(record.identity, states[name].identity)
            if may_be and name not in exact and record.crc32c is not None:
                found.setdefault(name, []).append(record)
        return found

    def _prove(
        self, bucket: str, name: str, state: FileState, known: Sequence[Record]
    ) -> Record | None:
        """Returns and stores the record that has this content; None: there is none."""
        if abs(self._clock.now() - state.changed) <= _CLOCK_TICK:
            time.sleep(_CLOCK_TICK.total_seconds())  # or a change could leave its time as it is
        try:
            now, file = self.open_file(bucket, name)
        except NotFound:
            return None
        with file:
            digest = digest_file(file)
            if not now == state == FileState.of(os.fstat(file.fileno())):
                return None
        for record in known:
            if record.crc32c == digest.crc32c and record.md5 in (None, digest.md5):
                with self._lock.held():
                    if (name, record) not in self._records.find_any(bucket, [name]):
                        return None  # somebody has written or removed the object meanwhile
                    kept = replace(record, identity=state.identity)
                    self._records.settle(bucket, name, kept)
                return kept
        return None

    def adopt(self, bucket: str, states: Mapping[str, FileState]) -> dict[str, Record]:
        """Returns a record for each file, new ones included; needs the lock and fresh states."""
        known = self._records.find_all(bucket, states)
        made = {
            name: Record(state.identity, state.changed, _TYPES.guess_type(name)[0] or _DEFAULT_TYPE)
            for name, state in states.items()
            if name not in known
        }
        if made:
            known |= self._records.adopt(bucket, made, self._clock.now())
        return known

    def with_checksum(
        self, state: FileState, record: Record, file: BinaryIO
    ) -> tuple[Record, bool]:
        """Returns the record with the checksum, and whether this is valid as long as the state.

        The checksum stays unknown if the file has become shorter meanwhile.
        """
        if record.crc32c is not None:
            return record, True
        crc32c = checksum_file(file, state.size_bytes)
        file.seek(0)
        unchanged = FileState.of(os.fstat(file.fileno())) == state
        settled = self._clock.now() - state.changed > _CLOCK_TICK
        return replace(record, crc32c=crc32c), crc32c is not None and unchanged and settled


def no_object(bucket: str, name: str) -> NotFound:
    return NotFound(f"object {name!r} does not exist in bucket {bucket!r}")
