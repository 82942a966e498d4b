"""The preparation of CSV files as training, validation and test data, in two passes."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from footplate_algorithms.columns import (
    MAX_CLASSES,
    Column,
    check_header,
    first_not_numeric,
    kept_rows,
    numbers,
    sorted_classes,
)
from footplate_algorithms.csv_rows import CsvFiles
from footplate_algorithms.datasets import Dataset, DatasetWriter
from footplate_algorithms.encoding import Encoder
from footplate_algorithms.errors import DataError
from footplate_algorithms.parameters import ANY, Range

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from footplate_algorithms.csv_rows import Chunk
    from footplate_algorithms.folders import Folders

PARTS = ("training", "validation", "test")
_SPLIT_SEED = 1


@dataclass(frozen=True)
class Target:
    """The way in which the target column is read.

    ``classes``: the column has classes. They are found in the data, unless ``limit`` is set: then
    they are the whole numbers below it. ``at_most`` is how many may be found. ``range`` is for
    numbers.
    """

    classes: bool
    limit: int | None = None
    at_most: int = MAX_CLASSES
    range: Range = ANY


@dataclass(frozen=True)
class Request:
    """The data to prepare.

    ``paths`` are by the names in `PARTS`; ``splits`` are the shares of validation and test data.
    ``gaps``: empty cells are allowed even if nothing fills them.
    """

    paths: Mapping[str, str]
    folders: Folders
    preprocess: bool
    target: Target
    splits: tuple[float, float] = (0.0, 0.0)
    one_hot: bool = False
    gaps: bool = True


@dataclass(frozen=True)
class Prepared:
    """The prepared data; ``metadata`` is for `Encoder`, and missing data is None."""

    metadata: dict[str, Any]
    training: Dataset
    validation: Dataset | None
    test: Dataset | None


def prepare(request: Request, work: Path, processed: Path, say: Callable[[str], None]) -> Prepared:
    """Prepares the data; ``processed`` gets it as CSV files, too. Raises DataError."""
    files = CsvFiles(request.paths["training"], request.folders)
    columns = _scan(files, request)
    _check_target(columns[0], request)
    metadata = _describe(columns, request)
    _say_types(columns, metadata, say)
    writer = _Writer(request, metadata, work, processed)
    for chunk, parts in _split(files.chunks(), request.splits):
        writer.write(chunk, parts)
    for part in (1, 2):
        path = request.paths.get(PARTS[part])
        if path is not None:
            for chunk in CsvFiles(path, request.folders, files.width).chunks():
                writer.write(chunk, np.full(len(chunk.rows), part))
    training, validation, test = writer.close()
    if training is None:
        said = "no row is left: each lacks its target or more than a tenth of its columns"
        raise DataError(f"{files.shown(files.paths[0])}: {said}")
    counts = ", ".join(f"{writer.rows(part)} {name}" for part, name in enumerate(PARTS))
    say(f"Rows: {counts}; {writer.left_out} left out, since too much of them is missing")
    return Prepared(metadata, training, validation, test)


def _split(
    chunks: Iterator[Chunk], shares: tuple[float, float]
) -> Iterator[tuple[Chunk, NDArray[Any]]]:
    """Yields chunks with the part of each row, an index in `PARTS`, always the same."""
    random = np.random.default_rng(_SPLIT_SEED)
    validation, test = shares
    for chunk in chunks:
        drawn = random.random(len(chunk.rows))
        yield chunk, np.where(drawn < validation, 1, np.where(drawn < validation + test, 2, 0))


def _scan(files: CsvFiles, request: Request) -> list[Column]:
    """Reads the facts about the columns; without preprocessing only about the target."""
    columns = [Column() for _ in range(files.width)]
    looked_at = columns if request.preprocess else columns[:1]
    rows = 0
    for chunk, parts in _split(files.chunks(), request.splits):
        kept = kept_rows(chunk, preprocess=request.preprocess)
        rows += len(chunk.rows)
        cells = list(zip(*chunk.rows, strict=True))
        for index, column in enumerate(looked_at):
            every = np.ones(len(chunk.rows), bool) if index == 0 else parts == 0
            column.see(chunk, index, cells[index], kept & every)
    check_header(looked_at, rows)
    return columns


def _check_target(target: Column, request: Request) -> None:
    if not request.target.classes or request.target.limit is not None:
        if target.numeric:
            return
        raise DataError(
            f"{target.first_not_numeric} is no number, and the target has to be one; if row 1 is "
            "a header, remove it; if these are classes, "
            + ("add --preprocess" if request.target.classes else "train a classifier")
        )
    classes = [text for text in target.texts if text]
    if len(classes) > min(request.target.at_most, MAX_CLASSES):
        said = f"column 1, the target, has more than {min(request.target.at_most, MAX_CLASSES)}"
        raise DataError(f"{said} classes; for a target of numbers train a regression")
    if len(classes) < 2:
        raise DataError(f"column 1, the target, has {len(classes)} class; at least 2 are needed")


def _describe(columns: Sequence[Column], request: Request) -> dict[str, Any]:
    target: dict[str, Any] = {"type": "number"}
    if request.target.classes and request.target.limit is None:
        target = {"type": "category", "classes": sorted_classes(columns[0].texts)}
    elif not request.target.classes:
        target |= {"mean": columns[0].mean, "deviation": columns[0].deviation}
    if request.preprocess:
        described = [column.described(i) for i, column in enumerate(columns) if i]
    else:
        described = plain_metadata(len(columns) - 1)["columns"]
    return {
        "preprocess": request.preprocess,
        "one_hot": request.one_hot,
        "target": target,
        "columns": described,
    }


def plain_metadata(width: int) -> dict[str, Any]:
    """Returns the metadata for ``width`` columns of numbers, which are used unchanged."""
    plain = {"type": "number", "fill": None, "mean": 0.0, "deviation": 1.0}
    columns = [{"name": f"column_{i + 2}", **plain} for i in range(width)]
    target = {"type": "number"}
    return {"preprocess": False, "one_hot": False, "target": target, "columns": columns}


def encode_plain(
    request: Request, chunks: Iterator[Chunk], width: int, work: Path, name: str
) -> Dataset | None:
    """Encodes rows of ``width`` columns of numbers, the target first. Raises DataError."""
    writer = _Writer(request, plain_metadata(width - 1), work, work, (name,))
    for chunk in chunks:
        writer.write(chunk, np.zeros(len(chunk.rows), int))
    return writer.close()[0]


def _say_types(
    columns: Sequence[Column], metadata: dict[str, Any], say: Callable[[str], None]
) -> None:
    found = metadata["columns"]
    categories = [each for each in found if each["type"] == "category"]
    say(f"Columns: {len(found) - len(categories)} of numbers, {len(categories)} of categories")
    for column, each in zip(columns[1:], found, strict=True):
        if "buckets" in each:
            say(
                f"{each['name']} has more than {each['buckets']} different texts, which are hashed;"
                f" it isn't a column of numbers because of {column.first_not_numeric}"
            )


class _Writer:
    """Encodes rows into a dataset for each part, and writes the filled rows as CSV files."""

    def __init__(
        self,
        request: Request,
        metadata: dict[str, Any],
        work: Path,
        processed: Path,
        names: Sequence[str] = PARTS,
    ) -> None:
        self._request = request
        self._encoder = Encoder(metadata)
        self._columns = metadata["columns"]
        self._target = metadata["target"]
        self._codes = {text: i for i, text in enumerate(self._target.get("classes", ()))}
        self._datasets = [DatasetWriter(work, name) for name in names]
        self._processed = processed
        self.left_out = 0

    def rows(self, part: int) -> int:
        return self._datasets[part].rows

    def write(self, chunk: Chunk, parts: NDArray[Any]) -> None:
        kept = kept_rows(chunk, preprocess=self._request.preprocess)
        self.left_out += int((~kept).sum())
        cells = list(zip(*chunk.rows, strict=True))
        self._check(chunk, cells, kept)
        encoded = [self._encode(chunk, i, column) for i, column in enumerate(cells[1:])]
        features = np.concatenate(encoded, axis=1)
        targets = self._targets(chunk, cells[0], kept)
        for part, dataset in enumerate(self._datasets):
            chosen = kept & (parts == part)
            if chosen.any():
                dataset.add(features[chosen], targets[chosen])
                self._write_csv(part, chunk, chosen)

    def close(self) -> tuple[Dataset | None, ...]:
        return tuple(dataset.close() for dataset in self._datasets)

    def _check(self, chunk: Chunk, cells: Sequence[Sequence[str]], kept: NDArray[np.bool_]) -> None:
        """Checks for gaps that nothing fills. Raises DataError at the first one."""
        if self._request.gaps or self._request.preprocess:
            return
        for index, column in enumerate(cells):
            for row, cell in enumerate(column):
                if not cell and kept[row]:
                    raise DataError(
                        f"{chunk.place(row, index)}: the value is missing; "
                        "--preprocess fills missing values"
                    )

    def _encode(self, chunk: Chunk, index: int, cells: Sequence[str]) -> NDArray[Any]:
        try:
            encoded: NDArray[Any] = self._encoder.encode_column(index, cells)
        except ValueError:
            bad = first_not_numeric(cells)
            said = f"{chunk.place(bad, index + 1)}: {cells[bad][:60]!r} is no number"
            if self._request.preprocess:
                raise DataError(f"{said}, as it is in the training data") from None
            way_out = "--preprocess takes columns of texts"
            raise DataError(f"{said}; {way_out}; if row 1 is a header, remove it") from None
        if np.isinf(encoded).any():
            bad = first_not_numeric(cells)
            raise DataError(f"{chunk.place(bad, index + 1)}: {cells[bad]!r} is infinite")
        return encoded

    def _targets(
        self, chunk: Chunk, cells: Sequence[str], kept: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        if self._codes:
            return self._class_codes(chunk, cells, kept)
        try:
            values = numbers(cells)
        except ValueError:
            bad = first_not_numeric(cells)
            raise DataError(f"{chunk.place(bad, 0)}: {cells[bad][:60]!r} is no number") from None
        limit, allowed = self._request.target.limit, self._request.target.range
        if limit is not None:
            fits = np.isin(values, np.arange(limit))
            said = f"the classes 0 to {limit - 1}; --preprocess takes other classes"
        else:
            fits = np.array([allowed.contains(value) for value in values.tolist()])
            said = f"a number {allowed}, by the objective"
        wrong = kept & ~fits
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise DataError(f"{chunk.place(row, 0)}: {cells[row]!r} given; allowed: {said}")
        return values

    def _class_codes(
        self, chunk: Chunk, cells: Sequence[str], kept: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        codes = np.array([self._codes.get(cell, -1) for cell in cells], float)
        unknown = kept & (codes < 0)
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            said = f"the training data has no class {cells[row][:60]!r}"
            raise DataError(f"{chunk.place(row, 0)}: {said}")
        return codes

    def _write_csv(self, part: int, chunk: Chunk, chosen: NDArray[np.bool_]) -> None:
        if not self._request.preprocess:
            return
        fills = ["", *(repr(c["fill"]) if c["type"] == "number" else "" for c in self._columns)]
        with open(self._processed / f"{PARTS[part]}.csv", "a", encoding="utf-8", newline="") as to:
            rows = (row for row, use in zip(chunk.rows, chosen, strict=True) if use)
            csv.writer(to).writerows(
                [cell or fill for cell, fill in zip(row, fills, strict=True)] for row in rows
            )
