"""Writes the rows of a dataset into files for training, validation and test.

An export can be repeated at any point: it writes the same files again, and deletes others that an
interrupted one left in the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import SpooledTemporaryFile
from typing import Protocol

from footplate.control.data_rows import Readable, Row, Rows, rows_of
from footplate.domain.data_assignment import Assignment, assignment_of
from footplate.domain.data_splits import SETS, DataSet, DataSplit, SplitMethod
from footplate.domain.datasets import Dataset
from footplate.domain.errors import FailedPrecondition, Unavailable
from footplate.domain.formatting import joined
from footplate.domain.names import GcsUri
from footplate.ports.buckets import ObjectInfo
from footplate.wire.vertex_v1.data_filters import read_data_filters

SHARD_BYTES = 16 << 20
"""The size of most files. A larger one is on disk until it is in its bucket."""
_CHUNK_BYTES = 1 << 20
_CONTENT_TYPES = {"csv": "text/csv", "jsonl": "application/jsonl"}


class Stopped(Exception):
    """An export is to end before it is complete; a later one may begin again."""


class Storage(Readable, Protocol):
    """The part of ``ports.object_storage.ObjectStorage`` that an export needs."""

    def write(
        self, bucket: str, name: str, chunks: Iterable[bytes], *, content_type: str
    ) -> ObjectInfo: ...

    def delete(self, bucket: str, name: str) -> None: ...


@dataclass(frozen=True)
class ExportedData:
    """Data in a folder; ``counts`` are the rows of each set, and ``ignored`` those of none."""

    directory: str
    format: str
    counts: tuple[int, ...]
    ignored: int = 0

    def pattern(self, which: DataSet) -> str:
        """Returns the URI of the files of a set, with a wildcard."""
        return f"{self.directory.rstrip('/')}/{which.value}-*.{self.format}"

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(map(self.pattern, SETS))

    def describe(self) -> str:
        sizes = [f"{count} for {each.value}" for each, count in zip(SETS, self.counts, strict=True)]
        ignored = f"; {self.ignored} rows are in no set" if self.ignored else ""
        return f"wrote rows to {self.directory}: {joined(sizes)}{ignored}"


def data_format(dataset: Dataset) -> str:
    return "csv" if dataset.is_tabular else "jsonl"


def annotation_of(schema_uri: str) -> str:
    """Returns the kind of annotations: ``image_classification`` of ``image_classification_1.0.0``.

    Empty for an empty URI.
    """
    leaf = schema_uri.rpartition("/")[2].removesuffix(".yaml")
    name, _, version = leaf.rpartition("_")
    return name if version.replace(".", "").isdecimal() else leaf


def export_data(
    dataset: Dataset,
    split: DataSplit,
    directory: str,
    buckets: Storage,
    check: Callable[[], None],
    *,
    annotation_schema: str = "",
    shard_bytes: int = SHARD_BYTES,
) -> ExportedData:
    """Writes the data of a dataset into ``directory``, which only this export uses.

    ``check`` is called for each line that is read, and may raise ``Stopped``.

    Raises:
        FailedPrecondition: the data is wrong, or doesn't fit the split, or a set has no row.
        NotFound: a file of the dataset doesn't exist.
        InvalidArgument: a file has a name that no bucket allows.
        PermissionDenied: a file is in a bucket that the project may not use.
        Aborted, Unavailable: try again.
    """
    rows = rows_of(dataset, split.key, annotation_of(annotation_schema), buckets, check)
    assignment = assignment_of(split, _selector(split))
    count, size = _look(rows, assignment)
    sizes = [assignment.sizes()[each] for each in SETS]
    _require_rows(split, count, sizes)
    target = GcsUri.parse(f"{directory.rstrip('/')}/", "directory")
    per_shard = max(1, shard_bytes * count // max(1, size))
    kind = data_format(dataset)
    writers = {
        each: _Shards(each, kind, number, per_shard, target, buckets, rows.header)
        for each, number in zip(SETS, sizes, strict=True)
    }
    try:
        with ExitStack() as files:
            for writer in writers.values():
                files.enter_context(writer.buffer)
            for row in rows:
                chosen = assignment.assign(row.key)
                if chosen is not None:
                    writers[chosen].add(row)
            for writer in writers.values():
                writer.finish()
    except OSError as error:
        raise Unavailable(f"the data can't be written: {error}") from None
    _delete_others(buckets, target, {name for each in writers.values() for name in each.names})
    return ExportedData(directory, kind, tuple(sizes), count - sum(sizes))


def delete_data(directory: str, buckets: Storage) -> None:
    """Deletes what an export that has ended early left."""
    _delete_others(buckets, GcsUri.parse(f"{directory.rstrip('/')}/", "directory"), set())


def _selector(split: DataSplit) -> Callable[..., DataSet | None]:
    if split.method is SplitMethod.FILTERS:
        return read_data_filters(split.filters)
    return lambda _: None


def _look(rows: Rows, assignment: Assignment) -> tuple[int, int]:
    """Shows all rows to the assignment; returns their number, and their bytes."""
    more = True
    while more:
        count = size = 0
        for row in rows:
            count += 1
            size += len(row.content)
            assignment.look(row.key)
        more = assignment.end_pass()
    return count, size


def _require_rows(split: DataSplit, count: int, sizes: list[int]) -> None:
    if not count:
        raise FailedPrecondition("the dataset has no rows; add some to its files")
    by_set = dict(zip(SETS, sizes, strict=True))
    for each in split.wanted():
        if by_set[each]:
            continue
        ways = {
            SplitMethod.FILTERS: f"correct {each.value}Filter, or give - for no item",
            SplitMethod.PREDEFINED: "its values must be training, validation and test",
            SplitMethod.TIMES: "its values must be times such as 2026-01-31T12:00:00Z",
        }
        way = ways.get(split.method, f"add rows, or give {each.value}Fraction another value")
        column = f" by the column {split.key!r}" if split.key else ""
        raise FailedPrecondition(
            f"{split.method.value}{column} puts none of the {count} rows into the set "
            f"{each.value}: {way}"
        )


class _Shards:
    """The files of a set: ``training-00000-of-00002.csv``. An empty set has one without rows."""

    def __init__(
        self,
        which: DataSet,
        kind: str,
        count: int,
        per_shard: int,
        target: GcsUri,
        buckets: Storage,
        header: bytes,
    ) -> None:
        self.buffer = SpooledTemporaryFile(max_size=SHARD_BYTES)  # noqa: SIM115 - the caller closes it
        self.names: list[str] = []
        self._which = which
        self._kind = kind
        self._shards = max(1, -(-count // per_shard))
        self._per_shard = per_shard
        self._target = target
        self._buckets = buckets
        self._header = header
        self._rows = 0

    def add(self, row: Row) -> None:
        if self._rows == self._per_shard:
            self._write()
        self.buffer.write(row.content)
        self._rows += 1

    def finish(self) -> None:
        self._write()

    def _write(self) -> None:
        shard = f"{self._which.value}-{len(self.names):05}-of-{self._shards:05}.{self._kind}"
        name = f"{self._target.path}{shard}"
        content_type = _CONTENT_TYPES[self._kind]
        self._buckets.write(self._target.bucket, name, self._chunks(), content_type=content_type)
        self.names.append(name)
        self.buffer.seek(0)
        self.buffer.truncate()
        self._rows = 0

    def _chunks(self) -> Iterator[bytes]:
        yield self._header
        self.buffer.seek(0)
        while chunk := self.buffer.read(_CHUNK_BYTES):
            yield chunk


def _delete_others(buckets: Storage, folder: GcsUri, kept: set[str]) -> None:
    token = None
    while True:
        page = buckets.list(folder.bucket, prefix=folder.path, token=token)
        for found in page.objects:
            if found.name not in kept:
                buckets.delete(folder.bucket, found.name)
        token = page.next_token
        if token is None:
            return
