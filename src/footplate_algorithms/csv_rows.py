"""Reads CSV files without a header in chunks of rows, and names the place of what is wrong."""

from __future__ import annotations

import csv
import glob
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from footplate_algorithms.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate_algorithms.folders import Folders

CHUNK_ROWS = 10_000
MAX_CELL_CHARACTERS = 1 << 20
_WILDCARDS = frozenset("*?[")


@dataclass(frozen=True)
class Chunk:
    """Rows of one file, with spaces around cells removed; ``lines`` has the line of each row."""

    file: str
    rows: list[list[str]]
    lines: list[int]

    def place(self, row: int, column: int | None = None) -> str:
        """Returns a cell's place, for messages; ``column`` counts from 0."""
        at = f"{self.file}, row {self.lines[row]}"
        return at if column is None else f"{at}, column {column + 1}"


class CsvFiles:
    """The CSV files of a path, which may have wildcards; messages use the user's names for them.

    Every row must have as many columns as the first one.
    """

    def __init__(self, path: str, folders: Folders, width: int | None = None) -> None:
        self._folders = folders
        self.paths = self._find(path)
        self.width = self._first_width() if width is None else width
        self._expected = "the first row" if width is None else "the training data"

    def chunks(self, files: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yields all rows in order, or only those of ``files``. Raises DataError."""
        for path in self.paths if files is None else files:
            yield from self._chunks(path)

    def shown(self, path: str) -> str:
        return self._folders.show(path)

    def _find(self, path: str) -> list[str]:
        if not _WILDCARDS.isdisjoint(path) and not Path(path).exists():
            found = sorted(each for each in glob.glob(path) if Path(each).is_file())  # noqa: PTH207  # of a whole path
            if not found:
                raise DataError(f"{self.shown(path)}: no file matches")
            return found
        if Path(path).is_dir():
            raise DataError(f"{self.shown(path)} is a directory; allowed: a CSV file, or DIR/*.csv")
        if not Path(path).is_file():
            raise DataError(f"{self.shown(path)}: there is no such file")
        return [path]

    def _first_width(self) -> int:
        for path in self.paths:
            for row, _ in self._rows(path):
                if len(row) < 2:
                    raise DataError(
                        f"{self.shown(path)}, row 1 has one column; the target comes first, then "
                        "at least one feature, with commas between them"
                    )
                return len(row)
        raise DataError(f"{self.shown(self.paths[0])}: the file is empty")

    def _chunks(self, path: str) -> Iterator[Chunk]:
        rows: list[list[str]] = []
        lines: list[int] = []
        for row, line in self._rows(path):
            if len(row) != self.width:
                raise DataError(
                    f"{self.shown(path)}, row {line} has {len(row)} columns, and "
                    f"{self._expected} has {self.width}"
                )
            rows.append([cell.strip() for cell in row])
            lines.append(line)
            if len(rows) == CHUNK_ROWS:
                yield Chunk(self.shown(path), rows, lines)
                rows, lines = [], []
        if rows:
            yield Chunk(self.shown(path), rows, lines)

    def _rows(self, path: str) -> Iterator[tuple[list[str], int]]:
        """Yields each row with its line; skips empty lines."""
        csv.field_size_limit(MAX_CELL_CHARACTERS)
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            while True:
                line = reader.line_num + 1
                try:
                    row = next(reader)
                except StopIteration:
                    return
                except UnicodeDecodeError:
                    said = f"{self.shown(path)}, at row {line} or later: the file isn't UTF-8"
                    raise DataError(said) from None
                except csv.Error as error:
                    raise DataError(f"{self.shown(path)}, row {line}: {error}") from None
                if row:
                    yield row, line
