"""Encoded rows on disk, read back in pieces: memory holds what is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

PIECE_ROWS = 50_000


@dataclass(frozen=True)
class Dataset:
    """Encoded rows.

    ``features`` is a float32 array of ``rows`` by ``width``, ``targets`` is one of ``rows``.
    """

    features: NDArray[Any]
    targets: NDArray[Any]

    @property
    def rows(self) -> int:
        return len(self.targets)

    @property
    def width(self) -> int:
        return int(self.features.shape[1])

    def pieces(self) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        for start in range(0, self.rows, PIECE_ROWS):
            end = start + PIECE_ROWS
            yield np.asarray(self.features[start:end]), np.asarray(self.targets[start:end])


class DatasetWriter:
    """Appends encoded rows to two files of ``directory``."""

    def __init__(self, directory: Path, name: str) -> None:
        self._paths = directory / f"{name}.features", directory / f"{name}.targets"
        for path in self._paths:
            path.write_bytes(b"")
        self._width = 0
        self.rows = 0

    def add(self, features: NDArray[Any], targets: NDArray[Any]) -> None:
        self._width = int(features.shape[1])
        self.rows += len(targets)
        for path, values in zip(self._paths, (features, targets), strict=True):
            with path.open("ab") as file:
                np.ascontiguousarray(values, np.float32).tofile(file)

    def close(self) -> Dataset | None:
        """Returns the data written; None: there are no rows."""
        if not self.rows:
            return None
        shape = self.rows, self._width
        features = np.memmap(self._paths[0], np.float32, "r", shape=shape)
        return Dataset(features, np.memmap(self._paths[1], np.float32, "r", shape=(self.rows,)))
