"""Turns rows of a CSV file into the numbers that the model was trained on.

A built-in algorithm leaves this file beside ``metadata.json`` in the directory ``artifacts`` of
its job. It needs NumPy alone::

    from instance_generator import Encoder
    rows = Encoder.load().encode([["39", "Private", "77516"]])
"""

from __future__ import annotations

import json
import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np


class Encoder:
    """Encodes the feature columns of rows, which come without the target."""

    def __init__(self, metadata: dict[str, Any]) -> None:
        self.columns: list[dict[str, Any]] = metadata["columns"]
        self.target: dict[str, Any] = metadata["target"]
        self.one_hot: bool = metadata.get("one_hot", False)
        self._codes = [
            {text: code for code, text in enumerate(column.get("categories", ()))}
            for column in self.columns
        ]

    @classmethod
    def load(cls, directory: str | Path | None = None) -> Encoder:
        """Loads the encoder from ``metadata.json`` in a directory, by default this file's."""
        folder = Path(directory) if directory is not None else Path(__file__).parent
        return cls(json.loads((folder / "metadata.json").read_text("utf-8")))

    def encode(self, rows: Any) -> Any:
        """Encodes rows of texts or numbers as a float32 array with one row each.

        Raises:
            ValueError: a row has another number of columns, or a text isn't a number.
        """
        texts = [[str(cell).strip() for cell in row] for row in rows]
        for index, row in enumerate(texts):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"row {index} has {len(row)} columns; expected {len(self.columns)}: "
                    "the features without the target"
                )
        parts = [self.encode_column(i, cells) for i, cells in enumerate(zip(*texts, strict=True))]
        return np.concatenate(parts, axis=1).astype(np.float32)

    def encode_column(self, index: int, cells: Any) -> Any:
        """Encodes a column: as numbers, or with ``one_hot`` as a column for each category."""
        column = self.columns[index]
        if column["type"] == "number":
            fill = math.nan if column["fill"] is None else column["fill"]
            return np.array([float(cell) if cell else fill for cell in cells])[:, None]
        codes = np.array([self._code(index, cell) for cell in cells])
        return np.eye(column["size"])[codes] if self.one_hot else codes[:, None].astype(float)

    def decode_target(self, codes: Any) -> list[str]:
        """Converts numbers that the model predicts to classes, as the training data writes them."""
        classes = self.target.get("classes")
        return [classes[int(code)] if classes else str(code) for code in codes]

    def _code(self, index: int, cell: str) -> int:
        """Returns the code of a category; those not in the training data share the last one."""
        column = self.columns[index]
        if "buckets" in column:
            return zlib.crc32(cell.encode()) % int(column["buckets"])
        return self._codes[index].get(cell, int(column["size"]) - 1)
