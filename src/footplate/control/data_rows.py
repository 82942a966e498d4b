"""Reads the rows of datasets from files in buckets, one at a time."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn, Protocol

from footplate.control.dataset_files import Files, find_files
from footplate.domain.data_assignment import RowKey
from footplate.domain.datasets import Dataset, ImportedFiles
from footplate.domain.errors import Aborted, FailedPrecondition, NotFound
from footplate.domain.formatting import listed, quoted
from footplate.ports.buckets import ObjectInfo
from footplate.wire.vertex_v1.data_items import DataItem, WrongItem, read_item, read_rows

MAX_LINE_BYTES = 16 << 20
MAX_FIELD_CHARACTERS = 131_072
"""The default of ``csv``, whose own limit others in the process may change."""
_BOM = b"\xef\xbb\xbf"
_COLUMNS_SHOWN = 20


class Readable(Files, Protocol):
    """The part of ``ports.object_storage.ObjectStorage`` that reading needs."""

    def open(self, bucket: str, name: str) -> tuple[ObjectInfo, BinaryIO]: ...


@dataclass(frozen=True)
class Row:
    """A row as it is written, with its line end; ``key`` is what a split looks at."""

    content: bytes
    key: RowKey


class Rows(Protocol):
    """The rows of a dataset.

    Each reading of it yields the same rows. It raises Aborted if a file was replaced after the
    first one; FailedPrecondition, which names the file and the line: a row is wrong.
    """

    header: bytes
    """The first line of each file, once rows were read; empty: there is none."""

    def __iter__(self) -> Iterator[Row]: ...


def rows_of(
    dataset: Dataset, column: str, annotation: str, buckets: Readable, check: Callable[[], None]
) -> Rows:
    """Returns the rows of a dataset.

    The key of a table's row is its value in ``column`` (empty: none), that of a data item its
    labels. Data items are those of imports that have annotations of the kind ``annotation`` (empty:
    of all imports). ``check`` is called for each line, and may raise.

    Raises NotFound, FailedPrecondition: the dataset has no such file, or no file at all.
    """
    if dataset.is_tabular:
        # A file that two URIs name is read once.
        found = (file for uri in dataset.sources for file in find_files(buckets, uri))
        files = tuple({(each.bucket, each.name): each for each in found}.values())
        if not files:
            raise FailedPrecondition(
                "the dataset has no files; create one with gcsSource (gcs_source in the SDK)"
            )
        return TableRows(files, column, buckets, check)
    chosen = [each for each in dataset.imports if format_of(each).startswith(annotation)]
    if not chosen:
        has = listed(sorted({format_of(each) for each in dataset.imports})) or "none"
        raise FailedPrecondition(
            f"the dataset has no imports with annotations {annotation or 'of any kind'}; the "
            f"schemas of its imports: {has}. Import data of this kind first"
        )
    pairs = [(each, uri) for each in chosen for uri in each.uris]
    imported = [(each, file) for each, uri in pairs for file in find_files(buckets, uri)]
    return ItemRows(imported, buckets, check)


def format_of(imported: ImportedFiles) -> str:
    """Returns the name of an import schema, such as ``text_extraction_io_format_1.0.0``."""
    return imported.schema_uri.rpartition("/")[2].removesuffix(".yaml")


class TableRows:
    """The rows of CSV files. The first line of the first file names the columns.

    It may stand in the other files, too. Source: the reference of InputConfig.
    """

    def __init__(
        self,
        files: Iterable[ObjectInfo],
        column: str,
        buckets: Readable,
        check: Callable[[], None],
    ) -> None:
        self.header = b""
        self._files = tuple(files)
        self._column = column
        self._buckets = buckets
        self._check = check

    def __iter__(self) -> Iterator[Row]:
        names: list[str] | None = None
        place = -1
        for file in self._files:
            records = _records(file, self._buckets, self._check)
            for order, (number, content, fields) in enumerate(records):
                if names is None:
                    names, self.header = fields, content
                    place = self._place(names, file) if self._column else -1
                    continue
                if not order and fields == names:
                    continue
                if len(fields) != len(names):
                    _refuse(file, number, f"has {len(fields)} columns, and the header {len(names)}")
                yield Row(content, fields[place] if place >= 0 else "")
            if names is None:
                raise FailedPrecondition(
                    f"{_uri(file)} is empty; its first line must name the columns"
                )

    def _place(self, names: list[str], file: ObjectInfo) -> int:
        if self._column in names:
            return names.index(self._column)
        known = listed([quoted(each) for each in names], most=_COLUMNS_SHOWN)
        raise FailedPrecondition(
            f"{_uri(file)} has no column {quoted(self._column)}, which the split needs; it has "
            f"{known}"
        )


class ItemRows:
    """The data items of import files, as JSON lines."""

    header = b""

    def __init__(
        self,
        files: Iterable[tuple[ImportedFiles, ObjectInfo]],
        buckets: Readable,
        check: Callable[[], None],
    ) -> None:
        self._files = tuple(files)
        self._buckets = buckets
        self._check = check

    def __iter__(self) -> Iterator[Row]:
        for imported, file in self._files:
            items = self._csv if file.name.casefold().endswith(".csv") else self._json
            for item in items(imported, file):
                yield Row(item.line, item.labels)

    def _json(self, imported: ImportedFiles, file: ObjectInfo) -> Iterator[DataItem]:
        labels = dict(imported.labels)
        for number, line in enumerate(_lines(file, self._buckets, self._check), 1):
            if line.strip():
                try:
                    yield read_item(line, labels)
                except WrongItem as error:
                    _refuse(file, number, f"is {error}")

    def _csv(self, imported: ImportedFiles, file: ObjectInfo) -> Iterator[DataItem]:
        read = 0

        def rows() -> Iterator[list[str]]:
            nonlocal read
            for number, _, fields in _records(file, self._buckets, self._check):
                read = number
                yield fields

        try:
            yield from read_rows(format_of(imported), rows(), dict(imported.labels))
        except WrongItem as error:
            _refuse(file, read, f"is {error}")


def _records(
    file: ObjectInfo, buckets: Readable, check: Callable[[], None]
) -> Iterator[tuple[int, bytes, list[str]]]:
    """Yields the rows of a CSV file: number of the first line, content, and fields."""
    taken: list[bytes] = []
    first, size = 1, 0

    def texts() -> Iterator[str]:
        nonlocal size
        for line in _lines(file, buckets, check):
            taken.append(line)
            size += len(line)
            if size > MAX_LINE_BYTES:
                _refuse(file, first, "begins a row of too many lines; is a quote missing?")
            yield line.decode("utf-8", "surrogateescape")

    reader = csv.reader(texts(), strict=True)
    while True:
        taken.clear()
        first, size = reader.line_num + 1, 0
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            _refuse(file, reader.line_num, f"is no CSV ({error})")
        if any(len(each) > MAX_FIELD_CHARACTERS for each in fields):
            said = f"field larger than field limit ({MAX_FIELD_CHARACTERS})"
            _refuse(file, reader.line_num, f"is no CSV ({said})")
        if fields:
            content = b"".join(taken)
            yield first, content if content.endswith(b"\n") else content + b"\n", fields


def _lines(file: ObjectInfo, buckets: Readable, check: Callable[[], None]) -> Iterator[bytes]:
    """Yields the lines of a file, as it was when it was found."""
    try:
        info, content = buckets.open(file.bucket, file.name)
    except NotFound:
        raise NotFound(f"{_uri(file)} was deleted while the dataset was read") from None
    with content:
        if info.generation != file.generation:
            raise Aborted(f"{_uri(file)} was replaced while the dataset was read")
        left = file.size_bytes
        number = 0
        while left > 0:
            line = content.readline(min(left, MAX_LINE_BYTES + 1))
            number += 1
            if not line:
                raise Aborted(f"{_uri(file)} was cut while the dataset was read")
            if len(line) > MAX_LINE_BYTES:
                _refuse(file, number, f"is longer than {MAX_LINE_BYTES} bytes")
            left -= len(line)
            check()
            yield line.removeprefix(_BOM) if number == 1 else line


def _refuse(file: ObjectInfo, line: int, fault: str) -> NoReturn:
    raise FailedPrecondition(f"line {line} of {_uri(file)} {fault}; correct the file")


def _uri(file: ObjectInfo) -> str:
    return f"gs://{file.bucket}/{file.name}"
