"""Objects as files in a bucket's folder: get, replace, list, remove."""

from __future__ import annotations

import io
import mimetypes
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO

from footplate import safe_path
from footplate.buckets.atomic_rename import move_into, refusing_clashes, remove_empty_directories
from footplate.buckets.checksums import Digest, checksum_file, digest_file
from footplate.buckets.disk_errors import disk_errors_as_service_errors
from footplate.buckets.file_state import FileState, look_at, may_be_copies
from footplate.buckets.names import check_bucket_name, parse_object_name
from footplate.buckets.object_metadata import Record, Records
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    NotFound,
    Unavailable,
    no_bucket,
)
from footplate.file_lock import FileLock
from footplate.ports.buckets import ObjectInfo
from footplate.ports.clock import Clock
from footplate.ports.object_storage import Conditions, Draft

_TYPES = mimetypes.MimeTypes()  # without the files of this machine
_DEFAULT_TYPE = "application/octet-stream"
_CLOCK_TICK = timedelta(milliseconds=50)
"""More than the grain of a file's times: a change within it may leave them as they were."""
_ATTEMPTS = 5
_UNKNOWN_BYTES = 256 << 20
"""What one listing reads at most to find out checksums, and as much to know copies of files."""


class Objects:
    """The objects of buckets, with a folder in ``root`` for each bucket; safe for many threads."""

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

    def open(self, bucket: str, name: str) -> tuple[ObjectInfo, BinaryIO]:
        """Opens an object; see the port."""
        for _ in range(_ATTEMPTS):
            state, record, file = self._open(bucket, name)
            try:
                with disk_errors_as_service_errors():
                    summed, lasting = self._with_checksum(state, record, file)
                    if lasting and record.crc32c is None:
                        self._records.add_checksums(bucket, {name: summed})
            except BaseException:
                file.close()
                raise
            if summed.crc32c is not None:
                return _info(bucket, name, state, summed), file
            file.close()
        raise Aborted(f"a program keeps rewriting object {name!r} of bucket {bucket!r}; try again")

    def stat(self, bucket: str, name: str) -> ObjectInfo:
        info, file = self.open(bucket, name)
        file.close()
        return info

    def place(self, draft: Draft, source: Path, digest: Digest) -> ObjectInfo:
        """Makes an object of a file on the same file system, which is moved."""
        path = parse_object_name(draft.name)
        draft.checksums.check(digest.crc32c, digest.md5)
        if draft.conditions != Conditions():
            self._recognize_one(draft.bucket, draft.name)
        with disk_errors_as_service_errors(), self._lock.held():
            folder = self.folder(draft.bucket)
            self._require(draft)
            state = FileState.of(source.lstat())
            # The record is stored before the file is moved, beside that of the file which is still
            # there. Each belongs to one state of the file, so a kill at any moment leaves a file
            # with its own record. ``settle`` then deletes the other one.
            record = self._prepare(draft, state, digest)
            kept = self._records.placeholders(draft.bucket, f"{draft.name}/")
            move_into(folder, path, source, clear=not kept)
            self._records.settle(draft.bucket, draft.name, record)
        return _info(draft.bucket, draft.name, state, record)

    def place_directory(self, draft: Draft, digest: Digest) -> ObjectInfo:
        """Makes an object whose name ends in a slash: a directory."""
        path = parse_object_name(draft.name)
        draft.checksums.check(digest.crc32c, digest.md5)
        with disk_errors_as_service_errors(), self._lock.held():
            folder = self.folder(draft.bucket)
            self._require(draft)
            with (
                refusing_clashes(draft.name),
                safe_path.directory(folder, path.parts, create=True, durable=True) as made,
            ):
                state = FileState.of(os.fstat(made))
            record = self._prepare(draft, state, digest)
            self._records.settle(draft.bucket, draft.name, record)
        return _info(draft.bucket, draft.name, state, record)

    def update(self, draft: Draft) -> ObjectInfo:
        """Changes an object's metadata; see the port."""
        self._recognize_one(draft.bucket, draft.name)
        with disk_errors_as_service_errors(), self._lock.held():
            state, record, file = self._open_locked(draft.bucket, draft.name)
            file.close()
            _check(draft.conditions, _info(draft.bucket, draft.name, state, record))
            record = replace(
                record,
                updated=self._clock.now(),
                metageneration=record.metageneration + 1,
                content_type=draft.content_type,
                metadata=draft.metadata,
                headers=draft.headers,
            )
            self._records.settle(draft.bucket, draft.name, record)
        return self.stat(draft.bucket, draft.name)

    def remove(self, bucket: str, name: str, conditions: Conditions) -> None:
        """Deletes an object; see the port. Also removes directories that have no objects left."""
        path = parse_object_name(name)
        if conditions != Conditions():
            self._recognize_one(bucket, name)
        with disk_errors_as_service_errors(), self._lock.held():
            state, record, file = self._open_locked(bucket, name)
            file.close()
            _check(conditions, _info(bucket, name, state, record))
            try:
                with safe_path.directory(self.folder(bucket), path.parents) as parent:
                    if not path.directory:
                        os.unlink(path.last, dir_fd=parent)
                        os.fsync(parent)
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):  # a program's work
                raise _missing(bucket, name) from None
            # After the file: without a record it would be taken for a program's file, and become a
            # new object. A record without a file does no harm.
            self._records.drop(bucket, name)
            parts = path.parts if path.directory else path.parents
            remove_empty_directories(self.folder(bucket), parts, self._has_placeholder(bucket))

    def _has_placeholder(self, bucket: str) -> Callable[[tuple[str, ...]], bool]:
        """Returns a test of whether a directory, or one below it, is an object itself."""

        def has_placeholder(parts: tuple[str, ...]) -> bool:
            names = sorted(self._records.placeholders(bucket, "/".join((*parts, ""))))
            return any(True for _ in look_at(self.folder(bucket), names))

        return has_placeholder

    def describe(self, bucket: str, names: Sequence[str]) -> tuple[ObjectInfo, ...]:
        """Returns the metadata of those names that are objects, in the same order."""
        found = self._find(bucket, names)
        new: dict[str, Record] = {}
        budget = _UNKNOWN_BYTES
        for name, (state, record) in found.items():
            own = record.identity == state.identity
            if own and record.crc32c is None and state.size_bytes <= budget:
                budget -= state.size_bytes
                found[name] = state, self._summed(bucket, name, state, record, new)
        if new:
            self._records.add_checksums(bucket, new)
        return tuple(_info(bucket, name, *found[name]) for name in names if name in found)

    def _summed(
        self, bucket: str, name: str, state: FileState, record: Record, new: dict[str, Record]
    ) -> Record:
        """Adds the checksum if the file is unchanged; ``new`` collects the records to store."""
        with disk_errors_as_service_errors():
            try:
                now, file = self._file(bucket, name)
            except NotFound:
                return record
            with file:
                if now != state:
                    return record
                summed, lasting = self._with_checksum(state, record, file)
        if lasting:
            new[name] = summed
        return summed

    def _find(self, bucket: str, names: Sequence[str]) -> dict[str, tuple[FileState, Record]]:
        folder = self.folder(bucket)
        with disk_errors_as_service_errors():
            states = dict(look_at(folder, names))
            records = self._records.find_all(bucket, states)
            unknown = [n for n in states if n not in records and not n.endswith("/")]
            if unknown:
                records |= self._recognize(bucket, {n: states[n] for n in unknown}, _UNKNOWN_BYTES)
                with self._lock.held():
                    fresh = dict(look_at(folder, [n for n in unknown if n not in records]))
                    records |= self._adopt(bucket, fresh)
                states |= fresh
        return {n: (states[n], records[n]) for n in states if n in records}

    def _open(self, bucket: str, name: str) -> tuple[FileState, Record, BinaryIO]:
        with disk_errors_as_service_errors():
            state, file = self._file(bucket, name)
            record = self._records.find(bucket, name, state.identity)
            if record is not None:
                return state, record, file
            file.close()
            self._recognize(bucket, {name: state})
            with self._lock.held():
                return self._open_locked(bucket, name)

    def _recognize_one(self, bucket: str, name: str) -> None:
        with disk_errors_as_service_errors():
            self._recognize(bucket, dict(look_at(self.folder(bucket), [name])))

    def _recognize(
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
            now, file = self._file(bucket, name)
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

    def _open_locked(self, bucket: str, name: str) -> tuple[FileState, Record, BinaryIO]:
        state, file = self._file(bucket, name)
        try:
            return state, self._adopt(bucket, {name: state})[name], file
        except BaseException:
            file.close()
            raise

    def _file(self, bucket: str, name: str) -> tuple[FileState, BinaryIO]:
        """Opens an object's file; a directory is an object only if it has a record."""
        folder, path = self.folder(bucket), parse_object_name(name)
        missing = _missing(bucket, name)
        try:
            if not path.directory:
                file = os.fdopen(safe_path.open_file(folder, path.parts), "rb")
                return FileState.of(os.fstat(file.fileno())), file
            with safe_path.directory(folder, path.parts) as found:
                state = FileState.of(os.fstat(found))
        except (FileNotFoundError, NotADirectoryError):
            raise missing from None
        if self._records.find(bucket, name, state.identity) is None:
            raise missing
        return state, io.BytesIO()

    def _adopt(self, bucket: str, states: Mapping[str, FileState]) -> dict[str, Record]:
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

    def _with_checksum(
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

    def _require(self, draft: Draft) -> None:
        if draft.conditions == Conditions():
            return
        try:
            state, record, file = self._open_locked(draft.bucket, draft.name)
        except NotFound:
            _check(draft.conditions, None)
            return
        file.close()
        _check(draft.conditions, _info(draft.bucket, draft.name, state, record))

    def _prepare(self, draft: Draft, state: FileState, digest: Digest) -> Record:
        now = self._clock.now()
        record = Record(
            identity=state.identity,
            updated=now,
            content_type=draft.content_type,
            crc32c=digest.crc32c,
            md5=digest.md5,
            metadata=draft.metadata,
            headers=draft.headers,
        )
        return self._records.prepare(draft.bucket, draft.name, record, now)


def _info(bucket: str, name: str, state: FileState, record: Record) -> ObjectInfo:
    return ObjectInfo(
        bucket=bucket,
        name=name,
        size_bytes=state.size_bytes,
        crc32c=record.crc32c,
        generation=record.generation,
        update_time=record.updated,
        content_type=record.content_type,
        metadata=record.metadata,
        metageneration=record.metageneration,
        md5=record.md5,
        headers=record.headers,
    )


def _missing(bucket: str, name: str) -> NotFound:
    return NotFound(f"object {name!r} does not exist in bucket {bucket!r}")


def _check(conditions: Conditions, current: ObjectInfo | None) -> None:
    if conditions.hold(current):
        return
    existing = (
        f"generation {current.generation}, metageneration {current.metageneration}"
        if current
        else "no object"
    )
    raise FailedPrecondition(
        f"the request's condition doesn't hold: the bucket has {existing} with this name"
    )
