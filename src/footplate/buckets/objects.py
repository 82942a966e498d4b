"""Objects as files in a bucket's folder: get, replace, list, remove."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from footplate import safe_path
from footplate.buckets.atomic_rename import move_into, refusing_clashes, remove_empty_directories
from footplate.buckets.checksums import Digest
from footplate.buckets.disk_errors import disk_errors_as_service_errors
from footplate.buckets.file_state import FileState, look_at
from footplate.buckets.names import parse_object_name
from footplate.buckets.object_metadata import Record, Records
from footplate.buckets.recorded_files import RecordedFiles, no_object
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    NotFound,
)
from footplate.file_lock import FileLock
from footplate.ports.buckets import ObjectInfo
from footplate.ports.clock import Clock
from footplate.ports.object_storage import Conditions, Draft

_ATTEMPTS = 5
_UNKNOWN_BYTES = 256 << 20
"""What one listing reads at most to find out checksums, and as much to know copies of files."""


class Objects:
    """The objects of buckets; safe for many threads."""

    def __init__(
        self, files: RecordedFiles, records: Records, clock: Clock, lock: FileLock
    ) -> None:
        """Stores the dependencies.

        A caller must hold ``lock`` when it moves, removes or adopts a file, in any process.
        """
        self._files = files
        self._records = records
        self._clock = clock
        self._lock = lock

    def open(self, bucket: str, name: str) -> tuple[ObjectInfo, BinaryIO]:
        """Opens an object; see the port."""
        for _ in range(_ATTEMPTS):
            state, record, file = self._files.open(bucket, name)
            try:
                with disk_errors_as_service_errors():
                    summed, lasting = self._files.with_checksum(state, record, file)
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
            self._files.recognize_one(draft.bucket, draft.name)
        with disk_errors_as_service_errors(), self._lock.held():
            folder = self._files.folder(draft.bucket)
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
            folder = self._files.folder(draft.bucket)
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
        self._files.recognize_one(draft.bucket, draft.name)
        with disk_errors_as_service_errors(), self._lock.held():
            state, record, file = self._files.open_locked(draft.bucket, draft.name)
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
            self._files.recognize_one(bucket, name)
        with disk_errors_as_service_errors(), self._lock.held():
            state, record, file = self._files.open_locked(bucket, name)
            file.close()
            _check(conditions, _info(bucket, name, state, record))
            try:
                with safe_path.directory(self._files.folder(bucket), path.parents) as parent:
                    if not path.directory:
                        os.unlink(path.last, dir_fd=parent)
                        os.fsync(parent)
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):  # a program's work
                raise no_object(bucket, name) from None
            # After the file: without a record it would be taken for a program's file, and become a
            # new object. A record without a file does no harm.
            self._records.drop(bucket, name)
            parts = path.parts if path.directory else path.parents
            remove_empty_directories(
                self._files.folder(bucket), parts, self._has_placeholder(bucket)
            )

    def _has_placeholder(self, bucket: str) -> Callable[[tuple[str, ...]], bool]:
        """Returns a test of whether a directory, or one below it, is an object itself."""

        def has_placeholder(parts: tuple[str, ...]) -> bool:
            names = sorted(self._records.placeholders(bucket, "/".join((*parts, ""))))
            return any(True for _ in look_at(self._files.folder(bucket), names))

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
                now, file = self._files.open_file(bucket, name)
            except NotFound:
                return record
            with file:
                if now != state:
                    return record
                summed, lasting = self._files.with_checksum(state, record, file)
        if lasting:
            new[name] = summed
        return summed

    def _find(self, bucket: str, names: Sequence[str]) -> dict[str, tuple[FileState, Record]]:
        folder = self._files.folder(bucket)
        with disk_errors_as_service_errors():
            states = dict(look_at(folder, names))
            records = self._records.find_all(bucket, states)
            unknown = [n for n in states if n not in records and not n.endswith("/")]
            if unknown:
                records |= self._files.recognize(
                    bucket, {n: states[n] for n in unknown}, _UNKNOWN_BYTES
                )
                with self._lock.held():
                    fresh = dict(look_at(folder, [n for n in unknown if n not in records]))
                    records |= self._files.adopt(bucket, fresh)
                states |= fresh
        return {n: (states[n], records[n]) for n in states if n in records}

    def _require(self, draft: Draft) -> None:
        if draft.conditions == Conditions():
            return
        try:
            state, record, file = self._files.open_locked(draft.bucket, draft.name)
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
