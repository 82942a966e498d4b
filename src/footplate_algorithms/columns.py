"""Finds the types of columns, their means and categories, in one pass over the training data."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from footplate_algorithms.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from footplate_algorithms.csv_rows import Chunk

MAX_CATEGORIES = 1000
"""A column of more texts is hashed into so many."""
MAX_CLASSES = 1000
MAX_MISSING_SHARE = 0.1
"""Rows in which more of the columns are missing are left out."""
_SHOWN = 60


def numbers(cells: Sequence[str]) -> NDArray[np.float64]:
    """Converts cells to numbers, NaN for empty ones. Raises ValueError: one isn't finite."""
    values = np.fromiter((float(cell) if cell else math.nan for cell in cells), float, len(cells))
    if np.isinf(values).any():
        raise ValueError("infinite")
    return values


def first_not_numeric(cells: Sequence[str]) -> int:
    """Returns the index of the first cell that is not a finite number; -1: there is none."""
    for index, cell in enumerate(cells):
        try:
            numbers([cell])
        except ValueError:
            return index
    return -1


@dataclass
class Column:
    """The facts about a column from one pass; sums are over the training rows."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    not_numeric: int = 0
    first_not_numeric: str = ""
    in_first_line: bool = False
    texts: Counter[str] = field(default_factory=Counter)

    @property
    def numeric(self) -> bool:
        return self.not_numeric == 0

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0

    @property
    def deviation(self) -> float:
        """Returns the standard deviation; 1 for a constant column, as it is a divisor."""
        if not self.count:
            return 1.0
        variance = max(self.squares / self.count - self.mean**2, 0.0)
        return math.sqrt(variance) if variance > 1e-12 * max(self.mean**2, 1e-12) else 1.0

    def see(self, chunk: Chunk, index: int, cells: Sequence[str], trains: NDArray[Any]) -> None:
        if self.not_numeric < 2:
            self._see_numbers(chunk, index, cells, trains)
        if len(self.texts) <= MAX_CATEGORIES:
            self.texts.update(cell for cell, used in zip(cells, trains, strict=True) if used)

    def _see_numbers(
        self, chunk: Chunk, index: int, cells: Sequence[str], trains: NDArray[Any]
    ) -> None:
        try:
            values = numbers(cells)
        except ValueError:
            values = self._numbers_among(chunk, index, cells)
        used = values[trains & ~np.isnan(values)]
        self.count += len(used)
        self.total += float(used.sum())
        self.squares += float(np.square(used).sum())

    def _numbers_among(self, chunk: Chunk, index: int, cells: Sequence[str]) -> NDArray[np.float64]:
        kept = list(cells)
        while self.not_numeric < 2 and (bad := first_not_numeric(kept)) >= 0:
            if not self.first_not_numeric:
                self.first_not_numeric = f"{chunk.place(bad, index)}: {kept[bad][:_SHOWN]!r}"
                self.in_first_line = chunk.lines[bad] == 1
            self.not_numeric += 1
            kept[bad] = ""
        return numbers(kept) if first_not_numeric(kept) < 0 else np.full(len(kept), math.nan)

    def described(self, index: int) -> dict[str, Any]:
        """Returns the column's entry in ``metadata.json``; ``index`` counts from 0, the target."""
        name = f"column_{index + 1}"
        if self.numeric:
            spread = {"mean": self.mean, "deviation": self.deviation}
            return {"name": name, "type": "number", "fill": self.mean, **spread}
        if len(self.texts) > MAX_CATEGORIES:
            size = MAX_CATEGORIES
            return {"name": name, "type": "category", "buckets": size, "size": size}
        known = sorted(self.texts)
        return {"name": name, "type": "category", "categories": known, "size": len(known) + 1}


def kept_rows(chunk: Chunk, *, preprocess: bool) -> NDArray[np.bool_]:
    """Returns which rows are used: with a target and, if preprocessed, few empty cells."""
    empty = np.array([row.count("") for row in chunk.rows])
    targets = np.array([bool(row[0]) for row in chunk.rows])
    if not preprocess:
        return targets
    kept: NDArray[np.bool_] = targets & (empty <= MAX_MISSING_SHARE * len(chunk.rows[0]))
    return kept


def check_header(columns: Sequence[Column], rows: int) -> None:
    """Checks for a header. Raises DataError: only the first row of a column is not a number."""
    for column in columns:
        if column.not_numeric == 1 and column.in_first_line and rows > 2:
            raise DataError(
                f"{column.first_not_numeric} is the only value of its column that is no number; "
                "row 1 seems to be a header: remove it"
            )


def sorted_classes(texts: Counter[str]) -> list[str]:
    """Sorts classes: by value if all are numbers, else alphabetically."""
    known = [text for text in texts if text]
    try:
        return sorted(known, key=float)
    except ValueError:
        return sorted(known)
