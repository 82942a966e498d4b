"""Makes a backup of a data directory while the service runs, or while it doesn't.

Each backup is a folder of its own, complete; files that haven't changed since the one before are
links to that one's. The database is copied first: what the logs and buckets have beyond it is
more than it knows, never less. Of the buckets' records, a second look at the files takes those of
the moment when the records were copied.
"""

from __future__ import annotations

import fcntl
import math
import os
import shutil
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from footplate.backup.files import (
    MAX_LEVELS,
    Found,
    UnfitError,
    copy,
    describe,
    digest_of,
    version_of,
    walk,
)
from footplate.backup.manifest import DATA, Entry, Kind, read_manifest, write_manifest
from footplate.backup.restoration import find_backups
from footplate.domain.errors import DataLoss, FailedPrecondition, InvalidArgument, Violation
from footplate.sqlite_damage import find_damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from footplate.settings import Settings

DATABASE = "footplate.db"
RECORDS = "buckets/.footplate/objects.db"
_BUCKETS = "buckets/"
_FILLED = "buckets/.footplate/uploads"
"""It is made after the records."""
_PART = ".unfinished"
_LEFT_OUT = frozenset(
    {
        # Of this machine, or of the processes that run now.
        *("replicas", "cache", "copies", "servers", "server.json", "footplate.lock", "reserve"),
        *("buckets/.footplate/staging", "buckets/.footplate/lock"),
        *(f"{name}{end}" for name in (DATABASE, RECORDS) for end in ("", "-wal", "-shm")),
    }
)
_OF_JOBS = ("logs/", "usage/")
_REPORT_S = 5.0
_MAX_PATH_BYTES = 3000
"""The kernel takes 4096, and the backup's own folder comes before."""


@dataclass
class Made:
    """The result of a backup; ``skipped`` has the paths that couldn't be included, with reasons."""

    folder: Path
    files: int = 0
    size_bytes: int = 0
    new_files: int = 0
    new_bytes: int = 0
    skipped: dict[str, str] = field(default_factory=dict)


def make_backup(settings: Settings, directory: Path, report: Callable[[str], None]) -> Made:
    """Makes a new backup of the data directory in ``directory``; ``report`` gets progress.

    Raises:
        InvalidArgument: there is no data directory, or its backups can't be in ``directory``.
        FailedPrecondition: another backup is being made there.
        DataLoss: the database is damaged, or the disk doesn't store what is written.
        OSError: ``directory`` can't be written.
    """
    root, directory = settings.data_dir.resolve(), directory.resolve()
    if not (root / "identity.json").exists():
        text = (
            f"'{root}' given, which isn't the data directory of a service; name that "
            "directory with --data-dir"
        )
        raise InvalidArgument.of((Violation("data_dir", text),))
    if directory.is_relative_to(root) or root.is_relative_to(directory):
        text = f"'{directory}' given; allowed: a folder outside the data directory {root}"
        raise InvalidArgument.of((Violation("DIR", text),))
    before = os.umask(0o077)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(directory):
            return _Backup(settings, root, directory, report).make()
    finally:
        os.umask(before)


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FailedPrecondition(f"another backup is being made in {directory}") from None
        yield
    finally:
        os.close(descriptor)


def prune(directory: Path, keep: int) -> list[Path]:
    """Removes all backups in ``directory`` except the ``keep`` newest; returns those removed."""
    gone = find_backups(directory)[:-keep]
    for folder in gone:
        shutil.rmtree(folder)
    return gone


class _Backup:
    def __init__(
        self, settings: Settings, root: Path, directory: Path, report: Callable[[str], None]
    ) -> None:
        self._root = root
        self._directory = directory
        self._report = report
        self._cache = settings.cache.resolve()
        self._keeps_database = settings.database_url is None
        self._part = directory / _PART
        self._data = self._part / DATA
        self._entries: dict[str, Entry] = {}
        self._made = Made(self._part)
        self._reported_at = time.monotonic()
        self._earlier, self._before = self._read_earlier()

    def make(self) -> Made:
        if self._part.exists():
            shutil.rmtree(self._part)
        self._data.mkdir(parents=True)
        jobs = {path for name in _OF_JOBS for path in self._list(name)}
        if self._keeps_database:
            self._report("Copying the database.")
            self._copy_database(DATABASE)
        self._report("Copying the files.")
        # A log that is newer than the database belongs to a job that it doesn't know.
        self._pass(lambda path: not path.startswith(_OF_JOBS) or _top_two(path) in jobs)
        if _FILLED in self._entries:  # or no server has kept an object so far
            self._copy_database(RECORDS)
            self._second_pass()
        self._report("Checking the new backup.")
        self._check()
        return self._finish()

    def _read_earlier(self) -> tuple[Path, dict[str, Entry]]:
        """Returns the folder and the entries of the last complete backup."""
        for folder in reversed(find_backups(self._directory)):
            with suppress(DataLoss):
                return folder / DATA, read_manifest(folder)
        return self._data, {}

    def _list(self, folder: str) -> list[str]:
        try:
            return [f"{folder}{path.name}" for path in (self._root / folder).iterdir()]
        except FileNotFoundError:
            return []

    def _wanted(self, path: str) -> bool:
        return path not in _LEFT_OUT and self._root / path != self._cache

    def _pass(self, wanted: Callable[[str], bool]) -> None:
        for found in walk(self._root, lambda path: self._wanted(path) and wanted(path)):
            self._take(found)

    def _second_pass(self) -> None:
        """Copies what has changed in buckets since the first pass, as the records show."""
        seen = set()
        with closing(_Records(self._data / RECORDS)) as records:
            for found in walk(self._root / "buckets", lambda p: self._wanted(_BUCKETS + p)):
                path = _BUCKETS + found.path
                moved = Found(path, found.parent, found.name, found.status)
                seen.add(path)
                kept = self._entries.get(path)
                if kept is None or not records.has(kept):
                    self._take(moved)
            for path in [p for p in self._entries if p.startswith(_BUCKETS) and p not in seen]:
                entry = self._entries[path]
                if path != RECORDS and entry.kind is not Kind.FOLDER and not records.has(entry):
                    self._drop(path)

    def _take(self, found: Found) -> None:
        """Adds the file to the backup, unless its present state is in it already."""
        kept = self._entries.get(found.path)
        if kept is not None and kept.version == version_of(found.status):
            return
        if kept is not None and not kept.kind is found.kind is Kind.FOLDER:
            self._drop(found.path)
        try:
            self._check_place(found)
            self._entries[found.path] = self._read(found)
            self._made.skipped.pop(found.path, None)
        except UnfitError as error:
            if str(error):
                self._made.skipped[found.path] = str(error)
        self._tell()

    def _check_place(self, found: Found) -> None:
        """Checks that a path can be part of a backup: programs create any. Raises UnfitError."""
        above = found.path.rpartition("/")[0]
        if above and (above not in self._entries or self._entries[above].kind is not Kind.FOLDER):
            raise UnfitError  # what is above it is left out, or was replaced meanwhile
        if found.kind is None:
            raise UnfitError("this is neither a file nor a folder nor a link")
        if found.path.count("/") >= MAX_LEVELS or len(os.fsencode(found.path)) > _MAX_PATH_BYTES:
            raise UnfitError("the path is too long")

    def _read(self, found: Found) -> Entry:
        target = self._data / found.path
        if found.kind is not Kind.FILE:
            entry = describe(found)
            if found.kind is Kind.FOLDER:
                target.mkdir(exist_ok=True)
            return entry
        earlier = self._before.get(found.path)
        if earlier is not None and earlier.version == version_of(found.status):
            with suppress(OSError):  # another disk, or a file system without links
                source = self._earlier / found.path
                if os.lstat(source).st_size == earlier.size_bytes:
                    os.link(source, target)
                    return earlier
        return copy(found, target)

    def _drop(self, path: str) -> None:
        target = self._data / path
        below = [p for p in self._entries if p == path or p.startswith(f"{path}/")]
        for each in below:
            del self._entries[each]
        if target.is_dir():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    def _copy_database(self, path: str) -> None:
        """Copies one consistent state, even while the service writes. Raises DataLoss."""
        source, target = self._root / path, self._data / path
        try:
            with (
                closing(sqlite3.connect(f"file:{_quote(source)}?mode=rw", uri=True)) as original,
                closing(sqlite3.connect(target)) as copied,
            ):
                original.backup(copied)  # in one step: writers go on, and none makes it begin again
                copied.execute("PRAGMA journal_mode = DELETE")
                found = find_damage(copied, math.inf)
                if copied.execute("SELECT * FROM sqlite_master").fetchone() is None:
                    found = "it is empty"
        except sqlite3.DatabaseError as error:
            raise DataLoss(
                f"the database {source} can't be copied: {error}; the command made no backup"
            ) from error
        if found:
            raise DataLoss(f"the database {source} is damaged: {found}; the command made no backup")
        status = source.stat()
        size = target.stat().st_size
        self._entries[path] = Entry(
            path,
            Kind.FILE,
            0o600,
            status.st_uid,
            status.st_gid,
            status.st_mtime_ns,
            "",
            size,
            digest_of(target, size),
        )

    def _check(self) -> None:
        """Checks the new files of the backup. Raises DataLoss.

        Files of earlier backups are checked by `footplate backup --check`.
        """
        os.sync()
        for path, entry in self._entries.items():
            if entry.kind is not Kind.FILE:
                continue
            self._made.files += 1
            self._made.size_bytes += entry.size_bytes
            if entry is self._before.get(path):
                continue
            self._made.new_files += 1
            self._made.new_bytes += entry.size_bytes
            if digest_of(self._data / path, entry.size_bytes) != entry.digest:
                raise DataLoss(
                    f"the disk of {self._data} doesn't store files correctly: the copy of {path} "
                    "differs from the original"
                )
            self._tell()

    def _finish(self) -> Made:
        """Writes the manifest and renames the folder, which makes it a backup."""
        write_manifest(self._part, self._entries.values())
        name = time.strftime("%Y-%m-%dT%H%M%SZ", time.gmtime())
        names = [name, *(f"{name}-{number}" for number in range(2, 1000))]
        self._made.folder = next(
            folder for each in names if not (folder := self._directory / each).exists()
        )
        self._part.rename(self._made.folder)
        descriptor = os.open(self._directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return self._made

    def _tell(self) -> None:
        if time.monotonic() - self._reported_at >= _REPORT_S:
            self._reported_at = time.monotonic()
            self._report(f"{len(self._entries)} files and folders so far.")


class _Records:
    """The copy of the buckets' records, which shows whether a file's copy is of the same moment."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)

    def close(self) -> None:
        self._connection.close()

    def has(self, entry: Entry) -> bool:
        _, bucket, *name = entry.path.split("/", 2)
        if not name:
            return False
        found = self._connection.execute(
            "SELECT 1 FROM objects WHERE bucket = ? AND name = ? AND identity = ?",
            (bucket, _storable(name[0]), entry.version.rpartition("-")[0]),
        )
        return found.fetchone() is not None


def _storable(name: str) -> str:
    """Converts a name to valid UTF-8, as all names of objects are."""
    return name.encode(errors="replace").decode()


def _top_two(path: str) -> str:
    return "/".join(path.split("/", 2)[:2])


def _quote(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
