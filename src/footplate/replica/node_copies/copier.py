"""Copies what a job names of buckets to a folder of this node, and what its program makes back.

By the rules of the copies of remote buckets on the server's machine, but over the storage API. All
that is known of the copies lies beside them: a copier that is killed goes on when it is run again.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import mimetypes
import os
import shutil
import sys
import time
from contextlib import contextmanager

from footplate.domain.bucket_copying import (
    Known,
    describe_fetched,
    describe_saved,
    describe_unsaved,
    find_gone,
    is_changed,
    is_wanted,
)
from footplate.protocol.bucket_copies import CopyPlan, StepResult
from footplate.replica.file_io import is_there, read_text, write_text
from footplate.replica.http_client import Connection, Refused, ServerUnavailable
from footplate.replica.node_copies import UNSAVED
from footplate.replica.node_copies.copy_folder import CopyFolder, identify, is_no_file, split
from footplate.replica.node_copies.storage_client import FileChanged, StorageClient, StorageFault

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Iterator

    from footplate.protocol.bucket_copies import PlannedBucket

PLAN_PATH = "/replica/v1/bucket-copies"
STEP_S = 10.0
"""A step that has copied for so long says how far it is."""
INTERVAL_S = 30.0
"""The time between two looks at the files of a running program."""
SETTLED_S = 2.0
"""A file that was changed just now is left to the next look, once."""
SPARED_BYTES = 1 << 30
"""What a copy leaves free on the disk."""
_PLAN = "plan.json"
_PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.ESTALE})
_DEFAULT_TYPE = "application/octet-stream"
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


class Late(Exception):
    """Error of a step that has used up its time; the message says how far it is."""


class NodeCopier:
    """The copier of buckets on a node. ``root`` holds the copies: below ``files`` a folder for each
    bucket.
    """

    def __init__(
        self,
        root: str,
        server_file: str,
        token: str,
        monotonic: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._root = root
        self._server_file = server_file
        self._token = token
        self._monotonic = monotonic
        self._now = now
        self._types = mimetypes.MimeTypes()  # without the files of this machine
        self._unsettled: set[tuple[str, str]] = set()
        self._end_at = 0.0

    def step(self, step: str) -> StepResult:
        """Copies for some seconds; returns the result in the form in which the server reports its
        own copying.

        Raises ServerUnavailable, Refused.
        """
        self._end_at = self._monotonic() + STEP_S
        plan = self._ask_plan() if step == "fetch" else self._read_plan()
        client = StorageClient(self._server_file, plan.storage)
        notes = []
        try:
            for bucket in plan.buckets:
                if step == "fetch":
                    notes.append(self._take(bucket, lambda b: self._fetch(client, b)))
                elif not bucket.read_only:
                    notes.append(self._take(bucket, lambda b: self._save(client, b)))
        except Late as late:
            return StepResult(done=False, progress=str(late))
        except _Fault as fault:
            return StepResult(done=False, fault=str(fault), retry=fault.retry)
        finally:
            client.close()
        self._mark(unsaved=False)
        return StepResult(done=True, notes=tuple(note for note in notes if note))

    def look(self) -> None:
        """Writes back the files of a running program. Raises ServerUnavailable."""
        plan = self._read_plan()
        client = StorageClient(self._server_file, plan.storage)
        try:
            for bucket in plan.buckets:
                self._end_at = float("inf")
                if not bucket.read_only:
                    self._take(bucket, lambda b: self._save(client, b, running=True))
        except _Fault as fault:
            print(fault, file=sys.stderr)
        finally:
            client.close()

    def _ask_plan(self) -> CopyPlan:
        connection = Connection(self._server_file, self._token)
        try:
            text = connection.get(PLAN_PATH).decode()
        finally:
            connection.close()
        path = os.path.join(self._root, _PLAN)
        write_text(f"{path}.new", text, _WRITE, 0o600)
        os.replace(f"{path}.new", path)
        return self._read_plan()

    def _read_plan(self) -> CopyPlan:
        """Returns the plan; without one, an empty plan."""
        try:
            return CopyPlan.decode(json.loads(read_text(os.path.join(self._root, _PLAN))))
        except FileNotFoundError:
            return CopyPlan("", ())

    def _take(self, bucket: PlannedBucket, copy: Callable[[_Bucket], str]) -> str:
        """Copies one bucket and returns a sentence on it. Raises _Fault, Late,
        ServerUnavailable.
        """
        opened = _Bucket(self._root, bucket)
        try:
            with opened.locked():
                return copy(opened)
        except StorageFault as error:
            raise self._fault(opened, str(error), retry=error.retry) from error
        except ServerUnavailable:
            raise
        except OSError as error:
            retry = error.errno in _PASSING
            raise self._fault(opened, str(error.strerror or error), retry=retry) from error

    def _fault(self, bucket: _Bucket, reason: str, *, retry: bool) -> _Fault:
        if not bucket.saving:
            place = f"gs://{bucket.name}"
            return _Fault(
                f"the supervisor can't copy {place} to /gcs/{bucket.name}: {reason}", retry=retry
            )
        self._mark(unsaved=True)
        try:
            files = [*bucket.folder.files()]
        except OSError:  # as the reason says
            files = []
        names = [name for name, status in files if bucket.has_changed(name, status)]
        place = f"{bucket.path} of {os.uname().nodename}"
        target = f"gs://{bucket.name}"
        return _Fault(describe_unsaved(bucket.name, target, reason, place, names), retry=retry)

    def _mark(self, *, unsaved: bool) -> None:
        path = os.path.join(self._root, UNSAVED)
        if unsaved:
            write_text(path, "", _WRITE, 0o600)
        elif is_there(path):
            os.unlink(path)

    def _fetch(self, client: StorageClient, bucket: _Bucket) -> str:
        objects = size_bytes = 0
        skipped = []
        for prefix in bucket.prefixes:
            for found in client.list(bucket.name, prefix):
                name, size = str(found["name"]), int(found["size"])
                if self._monotonic() >= self._end_at:
                    place = f"gs://{bucket.name} to /gcs/{bucket.name}"
                    raise Late(f"copying {place}: {objects} objects so far")
                parts = split(name)
                if parts is None:
                    skipped.append(name)
                    continue
                if name.endswith("/"):
                    bucket.folder.make_directory(parts)
                else:
                    self._fetch_object(client, bucket, parts, int(found["generation"]), size)
                objects += 1
                size_bytes += size
        return describe_fetched(
            bucket.name, f"gs://{bucket.name}", bucket.prefixes, objects, size_bytes, skipped
        )

    def _fetch_object(
        self, client: StorageClient, bucket: _Bucket, parts: list[str], generation: int, size: int
    ) -> None:
        name = "/".join(parts)
        status = bucket.folder.look_at(parts)
        identity = None if status is None else identify(status)
        if not is_wanted(bucket.known.get(name), identity, generation):
            return
        # One for each generation: a copy that continues must not join parts of two states of an
        # object.
        part = bucket.part(f"{name}\0{generation}")
        have = os.path.getsize(part) if is_there(part) else 0
        if have > size:
            os.unlink(part)
            have = 0
        free = shutil.disk_usage(self._root).free
        if size - have + SPARED_BYTES > free:
            raise OSError(
                f"object {name!r} has {size} bytes. The disk of the copies has {free} bytes "
                f"free, of which {SPARED_BYTES} must stay free; name fewer objects"
            )
        with open(part, "ab") as file:
            if have < size:
                for chunk in client.read(bucket.name, name, generation, have):
                    file.write(chunk)
            file.flush()
            if file.tell() != size:
                os.unlink(part)
                raise ServerUnavailable(f"only {file.tell()} bytes of object {name!r} arrived")
        made = identify(os.stat(part))
        bucket.folder.place(part, parts)
        bucket.known[name] = Known(made, generation)

    def _save(self, client: StorageClient, bucket: _Bucket, *, running: bool = False) -> str:
        bucket.saving = True
        there = set()
        for name, status in bucket.folder.files():
            there.add(name)
            if not bucket.has_changed(name, status):
                continue
            if running and not self._is_settled(bucket.name, name, status):
                continue
            try:
                size = self._save_file(client, bucket, name)
            except FileChanged:
                continue  # the next look finds it
            bucket.all_saved = bucket.all_saved[0] + 1, bucket.all_saved[1] + size
        for name in find_gone(bucket.known, there):
            client.remove(bucket.name, name, bucket.known[name].generation)
            del bucket.known[name]
        return (
            "" if running else describe_saved(bucket.name, f"gs://{bucket.name}", *bucket.all_saved)
        )

    def _is_settled(self, bucket: str, name: str, status: os.stat_result) -> bool:
        """Returns whether the file's last change is old enough. The next scan takes a file that
        wasn't.
        """
        if self._now() - status.st_mtime >= SETTLED_S or (bucket, name) in self._unsettled:
            self._unsettled.discard((bucket, name))
            return True
        self._unsettled.add((bucket, name))
        return False

    def _save_file(self, client: StorageClient, bucket: _Bucket, name: str) -> int:
        """Saves the file; returns its size in bytes. Raises FileChanged, Late."""
        try:
            descriptor = bucket.folder.open(name.split("/"))
        except OSError as error:
            if is_no_file(error):
                raise FileChanged from error
            raise
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            identity, size = identify(status), status.st_size
            kind = self._types.guess_type(name)[0] or _DEFAULT_TYPE
            while True:
                upload = bucket.uploads.get(name, ("", ""))
                upload_id = upload[1] if upload[0] == identity else ""
                try:
                    generation, going_on = client.put(
                        bucket.name, name, kind, file, size, upload_id
                    )
                except StorageFault as error:
                    if error.status not in (404, 410) or not upload_id:
                        raise
                    generation, going_on = 0, ""  # the server has forgotten the upload
                if generation:
                    bucket.uploads.pop(name, None)
                    bucket.known[name] = Known(identity, generation)
                    return size
                bucket.uploads[name] = (identity, going_on)
                bucket.keep()
                if self._monotonic() >= self._end_at:
                    raise Late(f"writing /gcs/{bucket.name} to gs://{bucket.name}: {name}")


class _Fault(Exception):
    def __init__(self, message: str, *, retry: bool) -> None:
        super().__init__(message)
        self.retry = retry


class _Bucket:
    """The copy of a bucket, with the known states of its files."""

    def __init__(self, root: str, plan: PlannedBucket) -> None:
        self.name, self.prefixes = plan.name, plan.prefixes
        self.path = os.path.join(root, "files", self.name)
        self.folder = CopyFolder(self.path)
        self.saving = False
        self.known: dict[str, Known] = {}
        self.uploads: dict[str, tuple[str, str]] = {}
        """The state and the upload that has begun, by name of the file."""
        self.all_saved = (0, 0)
        """Objects and bytes that were ever written back."""
        self._root = root
        self._state = os.path.join(root, f"{self.name}.json")

    def part(self, subject: str) -> str:
        """Returns the path of a file while it arrives."""
        digest = hashlib.sha256(f"{self.name}/{subject}".encode()).hexdigest()
        return os.path.join(self._root, f"{digest}.part")

    def has_changed(self, name: str, status: os.stat_result) -> bool:
        return is_changed(self.known.get(name), identify(status))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Locks the copy in the block, and saves the known states of files at its end, whatever
        happens.
        """
        os.makedirs(self.path, exist_ok=True)
        flags = os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC
        lock = os.open(os.path.join(self._root, f"{self.name}.lock"), flags, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._load()
            try:
                yield
            finally:
                self.keep()
        finally:
            os.close(lock)

    def _load(self) -> None:
        try:
            found = json.loads(read_text(self._state))
        except (FileNotFoundError, ValueError):
            return
        self.known = {name: Known(*value) for name, value in found["known"].items()}
        self.uploads = {name: (value[0], value[1]) for name, value in found["uploads"].items()}
        self.all_saved = found["saved"][0], found["saved"][1]

    def keep(self) -> None:
        found = {"known": self.known, "uploads": self.uploads, "saved": self.all_saved}
        write_text(f"{self._state}.new", json.dumps(found), _WRITE, 0o600)
        os.replace(f"{self._state}.new", self._state)


def follow(
    copier: NodeCopier,
    sleep: Callable[[float], object] = time.sleep,
    interval_s: float = INTERVAL_S,
) -> None:
    """Writes back the program's files again and again, until this process is ended."""
    while True:
        sleep(interval_s)
        try:
            copier.look()
        except (ServerUnavailable, Refused) as error:
            print(error, file=sys.stderr)
