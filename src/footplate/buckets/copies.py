"""Copies of buckets that aren't folders, for the programs of jobs.

A program may write anything into its copy, links too: files are opened without following those
that lead out of it. The list of what is known of each file lies where programs can't see it.
"""

from __future__ import annotations

import fcntl
import json
import mimetypes
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from footplate import safe_path
from footplate.buckets.atomic_rename import move_into
from footplate.buckets.disk_errors import disk_errors_as_service_errors
from footplate.buckets.file_state import FileState, look_at
from footplate.buckets.listing import NameListing, Window
from footplate.buckets.names import parse_object_name
from footplate.buckets.staging import staged
from footplate.domain.bucket_copying import Known, find_gone, is_changed, is_wanted
from footplate.domain.errors import FailedPrecondition, InvalidArgument, NotFound
from footplate.domain.names import JobUid
from footplate.ports.bucket_copies import Copied
from footplate.ports.buckets import ObjectInfo
from footplate.ports.object_storage import Conditions, Draft, ObjectStorage

STEP_S = 10.0
"""A call that has copied for so long lets its caller say how far it is."""
SPARED_BYTES = 1 << 30
"""What a copy leaves free on the disk."""
_TYPES = mimetypes.MimeTypes()  # without the files of this machine
_DEFAULT_TYPE = "application/octet-stream"
_COPY_BYTES = 1 << 20


@dataclass(frozen=True)
class FolderCopies:
    """Implements ``ports.bucket_copies.BucketCopies`` in ``root``: a folder for each job."""

    root: Path
    buckets: ObjectStorage
    monotonic: Callable[[], float] = time.monotonic
    step_s: float = STEP_S

    def folder(self, job: JobUid, bucket: str) -> Path:
        return self.root / job / "files" / bucket

    def fetch(self, job: JobUid, bucket: str, prefixes: tuple[str, ...]) -> Copied:
        end_at = self.monotonic() + self.step_s
        with disk_errors_as_service_errors(), self._opened(job, bucket) as copy:
            objects = size_bytes = 0
            skipped: list[str] = []
            for info in self._list(bucket, prefixes):
                if self.monotonic() >= end_at:
                    return Copied(complete=False, objects=len(copy.known))
                try:
                    copy.take(info, lambda name: self._chunks(bucket, name))
                except InvalidArgument:
                    skipped.append(info.name)
                    continue
                objects += 1
                size_bytes += info.size_bytes
            return Copied(True, objects, size_bytes, tuple(skipped))

    def save(self, job: JobUid, bucket: str) -> Copied:
        end_at = self.monotonic() + self.step_s
        objects = size_bytes = 0
        with disk_errors_as_service_errors(), self._opened(job, bucket) as copy:
            for name, state in copy.changed():
                if self.monotonic() >= end_at:
                    return Copied(False, objects, size_bytes)
                content_type = _TYPES.guess_type(name)[0] or _DEFAULT_TYPE
                made = self.buckets.put(Draft(bucket, name, content_type), copy.chunks(name))
                copy.known[name] = Known(state.identity, made.generation)
                objects += 1
                size_bytes += made.size_bytes
            for name in copy.gone():
                self._remove(bucket, name, copy.known.pop(name))
        return Copied(True, objects, size_bytes)

    def unsaved(self, job: JobUid, bucket: str) -> tuple[str, ...]:
        with self._opened(job, bucket) as copy:
            return tuple(name for name, _ in copy.changed())

    def remove(self, unneeded: Callable[[JobUid], bool]) -> None:
        if not self.root.is_dir():
            return
        for path in self.root.iterdir():
            job = JobUid(path.name)
            if unneeded(job) and not self._has_unsaved(job):
                shutil.rmtree(path, ignore_errors=True)

    def _has_unsaved(self, job: JobUid) -> bool:
        """Returns whether a job has unsaved files, even of buckets no longer bound."""
        files = self.root / job / "files"
        names = [path.name for path in files.iterdir()] if files.is_dir() else []
        return any(self.unsaved(job, name) for name in names)

    @contextmanager
    def _opened(self, job: JobUid, bucket: str) -> Iterator[_Copy]:
        """Yields a job's copy under a lock; afterwards saves its state, even after an error."""
        top = self.root / job
        folder = self.folder(job, bucket)
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(top / f"{bucket}.lock", os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            copy = _Copy(folder, top, _read_known(top / f"{bucket}.json"))
            try:
                yield copy
            finally:
                _write_known(top / f"{bucket}.json", copy.known)
        finally:
            os.close(lock)

    def _list(self, bucket: str, prefixes: tuple[str, ...]) -> Iterator[ObjectInfo]:
        for prefix in prefixes:
            token = None
            while True:
                page = self.buckets.list(bucket, prefix=prefix, token=token)
                yield from page.objects
                token = page.next_token
                if token is None:
                    break

    def _chunks(self, bucket: str, name: str) -> Iterator[bytes]:
        with self.buckets.read(bucket, name) as file:
            while chunk := file.read(_COPY_BYTES):
                yield chunk

    def _remove(self, bucket: str, name: str, known: Known) -> None:
        """Removes an object, unless somebody else has replaced or removed it."""
        try:
            self.buckets.remove(bucket, name, Conditions(generation=known.generation))
        except (NotFound, FailedPrecondition):
            return


class _Copy:
    def __init__(self, folder: Path, top: Path, known: dict[str, Known]) -> None:
        self._folder = folder
        self._top = top
        self.known = known

    def take(self, info: ObjectInfo, chunks: Callable[[str], Iterator[bytes]]) -> None:
        """Writes the object's file, unless it is up to date or the program has changed it.

        Raises InvalidArgument: no file can have the object's name.
        """
        path = parse_object_name(info.name)
        if path.directory:
            with safe_path.directory(self._folder, path.parts, create=True, durable=True):
                return
        known, state = self.known.get(info.name), self._look_at(info.name)
        if not is_wanted(known, None if state is None else state.identity, info.generation):
            return
        free = shutil.disk_usage(self._folder).free
        if info.size_bytes + SPARED_BYTES > free:
            raise FailedPrecondition(
                f"the server can't copy object {info.name!r} of {info.size_bytes} bytes: its "
                f"disk has {free} bytes free, of which {SPARED_BYTES} must stay free. Name fewer "
                "objects"
            )
        source = self._top / "arriving"
        # A server that was killed may have left it, and ``staged`` takes no file that exists.
        source.unlink(missing_ok=True)
        with staged(source, chunks(info.name)):
            made = FileState.of(source.stat())
            move_into(self._folder, path, source, clear=True)
        self.known[info.name] = Known(made.identity, info.generation)

    def changed(self) -> Iterator[tuple[str, FileState]]:
        for name, state in self._files():
            if is_changed(self.known.get(name), state.identity):
                yield name, state

    def gone(self) -> list[str]:
        return find_gone(self.known, {name for name, _ in self._files()})

    def chunks(self, name: str) -> Iterator[bytes]:
        descriptor = safe_path.open_file(self._folder, parse_object_name(name).parts)
        with os.fdopen(descriptor, "rb") as file:
            while chunk := file.read(_COPY_BYTES):
                yield chunk

    def _files(self) -> Iterator[tuple[str, FileState]]:
        names = (name for name, _ in NameListing(self._folder, Window(), ()).entries(""))
        for name in names:
            state = self._look_at(name)
            if state is not None:
                yield name, state

    def _look_at(self, name: str) -> FileState | None:
        return next((state for _, state in look_at(self._folder, [name])), None)


def _read_known(path: Path) -> dict[str, Known]:
    try:
        found = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return {name: Known(identity, generation) for name, (identity, generation) in found.items()}


def _write_known(path: Path, known: dict[str, Known]) -> None:
    new = path.with_suffix(".new")
    new.write_text(json.dumps({name: [k.identity, k.generation] for name, k in known.items()}))
    new.replace(path)
