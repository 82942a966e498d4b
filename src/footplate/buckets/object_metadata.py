"""Object metadata that a file cannot hold, stored in SQLite beside the buckets.

A record belongs to one state of a file: its inode, size and time of change. A file that a
program has rewritten fits no record any more, and gets a new one; the copy of a file, in a
data directory that was moved or restored, keeps the record if its content is the same. A folder
that is an object has no content: its record belongs to its name. A writer's record is there
before its file is moved into place, so that a crash between the two leaves either the old
object or the new one, whole.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from footplate.buckets.file_state import FileState
from footplate.domain.bucket_locations import DEFAULT_LOCATION
from footplate.domain.errors import DataLoss, Unavailable
from footplate.domain.timestamps import from_micros, to_micros
from footplate.sqlite_damage import find_damage

_SCHEMA = """
CREATE TABLE IF NOT EXISTS objects (
    bucket TEXT, name TEXT, identity TEXT, generation INTEGER, metageneration INTEGER,
    updated_us INTEGER, content_type TEXT, crc32c INTEGER, md5 BLOB, details TEXT,
    PRIMARY KEY (bucket, name, identity)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS placeholders ON objects (bucket, name) WHERE identity GLOB 'd*';
CREATE TABLE IF NOT EXISTS buckets (
    name TEXT PRIMARY KEY, created_us INTEGER, location TEXT, project TEXT, labels TEXT,
    metageneration INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS last (generation INTEGER);
INSERT INTO last SELECT 0 WHERE NOT EXISTS (SELECT * FROM last);
UPDATE OR REPLACE objects SET identity = 'd' WHERE identity GLOB 'd*' AND identity != 'd';
"""
_COLUMNS = (
    "identity, generation, metageneration, updated_us, content_type, crc32c, md5, details, name"
)
_Row = tuple[str, int, int, int, str, int | None, bytes | None, str, str]


@dataclass(frozen=True)
class Record:
    """The stored metadata of an object.

    ``identity`` identifies one state of its file; ``crc32c`` is None if it isn't computed yet.
    """

    identity: str
    updated: datetime
    content_type: str
    generation: int = 0
    metageneration: int = 1
    crc32c: int | None = None
    md5: bytes | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


class Records:
    """The records of objects and buckets; safe for many threads."""

    def __init__(self, path: Path, *, lost: bool = False) -> None:
        """Opens the records; ``lost``: there were some before, so an empty file is refused.

        Raises:
            DataLoss: the file is damaged, or empty although ``lost`` is set.
        """
        self._lock = threading.Lock()
        self._path = path
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        with self._reporting():
            if lost and not self._connection.execute("SELECT * FROM sqlite_master").fetchone():
                raise self._damaged("the file is missing or empty")
            self._connection.execute("PRAGMA journal_mode = WAL")
            # Each commit reaches the disk: the record of a file must not be lost in a power cut
            # after which the file is in its place.
            self._connection.execute("PRAGMA synchronous = FULL")
            if found := find_damage(self._connection):
                raise self._damaged(found)
            self._connection.executescript(_SCHEMA)
            self._add_columns()

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _add_columns(self) -> None:
        """Adds columns that earlier versions lack: location, project, labels and metageneration."""
        found = self._connection.execute("SELECT name FROM pragma_table_info('buckets')").fetchall()
        for name in ("location", "project", "labels", "metageneration"):
            if (name,) in found:
                continue
            kind = "INTEGER" if name == "metageneration" else "TEXT"
            try:
                self._connection.execute(f"ALTER TABLE buckets ADD COLUMN {name} {kind}")
            except sqlite3.OperationalError as error:
                if "duplicate column" not in str(error):  # another server has just added it
                    raise

    def find(self, bucket: str, name: str, identity: str) -> Record | None:
        with self._reporting():
            row = self._connection.execute(
                f"SELECT {_COLUMNS} FROM objects WHERE bucket = ? AND name = ? AND identity = ?",  # noqa: S608 - no value in it
                (bucket, name, identity),
            ).fetchone()
        return _record(row) if row else None

    def find_all(self, bucket: str, states: Mapping[str, FileState]) -> dict[str, Record]:
        """Returns the records, by name, of objects that have a record for their current state."""
        found = self.find_any(bucket, states)
        return {name: rec for name, rec in found if states[name].identity == rec.identity}

    def find_any(self, bucket: str, names: Iterable[str]) -> list[tuple[str, Record]]:
        """Returns the records of these objects, for any states of their files."""
        with self._reporting():
            rows = self._connection.execute(
                f"SELECT {_COLUMNS} FROM objects WHERE bucket = ? "  # noqa: S608 - no value in it
                "AND name IN (SELECT value FROM json_each(?))",
                (bucket, json.dumps(list(names))),
            ).fetchall()
        return [(row[-1], _record(row)) for row in rows]

    def adopt(self, bucket: str, found: Mapping[str, Record], now: datetime) -> dict[str, Record]:
        """Stores records for files that a program wrote, with new generations."""
        with self._transaction():
            return {name: self._adopt(bucket, name, rec, now) for name, rec in found.items()}

    def prepare(self, bucket: str, name: str, record: Record, now: datetime) -> Record:
        """Stores the record of a file that is about to be moved into place.

        Returns it with its generation.
        """
        with self._transaction():
            record = replace(record, generation=self._next_generation(now))
            self._insert(bucket, name, record)
        return record

    def settle(self, bucket: str, name: str, record: Record) -> None:
        """Deletes other records of the name, because the file is now in place."""
        with self._transaction():
            self._connection.execute(
                "DELETE FROM objects WHERE bucket = ? AND name = ? AND identity != ?",
                (bucket, name, record.identity),
            )
            self._insert(bucket, name, record)

    def add_checksums(self, bucket: str, found: Mapping[str, Record]) -> None:
        """Stores the checksums of these records, if they still exist."""
        with self._transaction():
            self._connection.executemany(
                "UPDATE objects SET crc32c = ? WHERE bucket = ? AND name = ? AND identity = ?",
                [(r.crc32c, bucket, name, r.identity) for name, r in found.items()],
            )

    def drop(self, bucket: str, name: str) -> None:
        with self._transaction():
            self._connection.execute(
                "DELETE FROM objects WHERE bucket = ? AND name = ?", (bucket, name)
            )

    def placeholders(self, bucket: str, prefix: str) -> dict[str, str]:
        """Returns names and identities of the stored directories that begin with ``prefix``."""
        with self._reporting():
            rows = self._connection.execute(
                "SELECT name, identity FROM objects WHERE bucket = ? AND name >= ? "
                "AND substr(name, 1, ?) = ? AND identity GLOB 'd*'",
                (bucket, prefix, len(prefix), prefix),
            ).fetchall()
        return dict(rows)

    def add_bucket(self, name: str, now: datetime, location: str, project: str | None) -> None:
        with self._transaction():
            self._connection.execute(
                "INSERT INTO buckets (name, created_us, location, project) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (name) DO UPDATE SET created_us = excluded.created_us, "
                "location = excluded.location, project = excluded.project",
                (name, to_micros(now), location, project),
            )

    def label_bucket(
        self, name: str, labels: Mapping[str, str], metageneration: int | None
    ) -> bool:
        """Sets labels if the bucket has this metageneration (None: any); returns whether it did."""
        with self._transaction():
            changed = self._connection.execute(
                "UPDATE buckets SET labels = ?1, metageneration = coalesce(metageneration, 1) + 1 "
                "WHERE name = ?2 AND coalesce(?3, metageneration, 1) = coalesce(metageneration, 1)",
                (json.dumps(dict(labels)), name, metageneration),
            )
            return changed.rowcount == 1

    def labels(self, name: str) -> tuple[dict[str, str], int]:
        """Returns the bucket's labels and its metageneration, which counts their changes from 1."""
        with self._reporting():
            row = self._connection.execute(
                "SELECT labels, metageneration FROM buckets WHERE name = ?", (name,)
            ).fetchone()
        return (json.loads(row[0] or "{}"), row[1] or 1) if row else ({}, 1)

    def bucket(self, name: str) -> tuple[datetime, str, str | None] | None:
        """Returns the bucket's creation time, location and project; None: it has no record."""
        with self._reporting():
            row = self._connection.execute(
                "SELECT created_us, location, project FROM buckets WHERE name = ?", (name,)
            ).fetchone()
        return (from_micros(row[0]), row[1] or DEFAULT_LOCATION, row[2]) if row else None

    def drop_bucket(self, name: str) -> None:
        with self._transaction():
            self._connection.execute("DELETE FROM buckets WHERE name = ?", (name,))
            self._connection.execute("DELETE FROM objects WHERE bucket = ?", (name,))

    def _adopt(self, bucket: str, name: str, record: Record, now: datetime) -> Record:
        self._connection.execute(
            "DELETE FROM objects WHERE bucket = ? AND name = ?", (bucket, name)
        )
        record = replace(record, generation=self._next_generation(now))
        self._insert(bucket, name, record)
        return record

    def _next_generation(self, now: datetime) -> int:
        """Returns the next generation: microseconds since 1970, but always increasing."""
        rows: Iterable[tuple[int]] = self._connection.execute(
            "UPDATE last SET generation = max(generation + 1, ?) RETURNING generation",
            (to_micros(now),),
        ).fetchall()
        return next(iter(rows))[0]

    def _insert(self, bucket: str, name: str, record: Record) -> None:
        details = {"metadata": dict(record.metadata), "headers": dict(record.headers)}
        self._connection.execute(
            "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                bucket,
                name,
                record.identity,
                record.generation,
                record.metageneration,
                to_micros(record.updated),
                record.content_type,
                record.crc32c,
                record.md5,
                json.dumps(details),
            ),
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._reporting():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._connection.rollback()
                raise

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.OperationalError as error:
                text = f"the server can't read or write the buckets' records now: {error}"
                raise Unavailable(text) from error
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:
                    raise
                raise self._damaged(str(error)) from error

    def _damaged(self, why: str) -> DataLoss:
        """Makes the error; an empty file instead would open buckets to all projects."""
        return DataLoss(
            f"the buckets' records {self._path} are damaged ({why}); restore a backup into "
            "another data directory with `footplate restore`, or put the file back from a copy. "
            f"To start without these records, remove {self._path.parent}: then objects lose "
            "their content types and metadata, and buckets their projects. The setting "
            "bucket_projects assigns projects again"
        )


def _record(row: _Row) -> Record:
    identity, generation, metageneration, updated_us, content_type, crc32c, md5, text, _ = row
    details = json.loads(text)
    return Record(
        identity=identity,
        updated=from_micros(updated_us),
        content_type=content_type,
        generation=generation,
        metageneration=metageneration,
        crc32c=crc32c,
        md5=md5,
        metadata=details["metadata"],
        headers=details["headers"],
    )
