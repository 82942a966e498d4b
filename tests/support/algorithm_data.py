"""Tables for built-in algorithms, whose structure is known."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

CLASSES = ("<=50K", ">50K")
WORK = ("Private", "Local-gov", "Self-emp", "Without-pay")
_WORK_EFFECTS = np.array([0.0, 0.6, -0.6, -2.0])
_NOISE = 0.3


def _drawn(
    rows: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Numbers, places in `WORK`, and a score that follows from them."""
    random = np.random.default_rng(seed)
    numbers = random.normal([40, 10, 1000], [12, 3, 300], (rows, 3))
    work = random.integers(0, len(WORK), rows)
    scaled = (numbers - [40, 10, 1000]) / [12, 3, 300]
    score = scaled @ [1.0, 0.8, 0.0] + _WORK_EFFECTS[work] + random.normal(0, _NOISE, rows)
    return numbers, work, score


def write_census(path: Path, rows: int, seed: int = 0) -> Path:
    """A class, three numbers and a category: the class follows from two of the numbers and it."""
    numbers, work, score = _drawn(rows, seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for values, kind, value in zip(numbers, work, score, strict=True):
            cells = (f"{number:.4f}" for number in values)
            writer.writerow([CLASSES[int(value > -0.3)], *cells, f" {WORK[kind]}"])
    return path


def write_prices(path: Path, rows: int, seed: int = 0) -> Path:
    """As the census, with a number for a target: 20000 and 1000 times the score."""
    numbers, work, score = _drawn(rows, seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        for values, kind, value in zip(numbers, work, score, strict=True):
            cells = (f"{number:.4f}" for number in values)
            writer.writerow([f"{20000 + 1000 * value:.2f}", *cells, WORK[kind]])
    return path


def write_numbers(path: Path, rows: int, columns: int = 4, seed: int = 0) -> Path:
    """A target of 0 and 1 and ``columns`` numbers, of which the first two decide it."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, columns))
    score = features[:, 0] + features[:, 1] + random.normal(0, _NOISE, rows)
    table = np.column_stack([score > 0, features])
    np.savetxt(path, table, delimiter=",", fmt=["%d", *["%.5f"] * columns])
    return path
