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
        """The encoder of ``metadata.json`` in a directory; without one: beside this file."""
        folder = Path(directory) if directory is not None else Path(__file__).parent
        return cls(json.loads((folder / "metadata.json").read_text("utf-8")))

    def encode(self, rows: Any) -> Any:
        """A float32 array, one row for each row of texts or numbers.

        Raises:
            ValueError: a row has another number of columns, or a number is none.
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
        """Encodes a column: one of numbers, or with ``one_hot`` one for each category."""
        column = self.columns[index]
        if column["type"] == "number":
            fill = math.nan if column["fill"] is None else column["fill"]
            return np.array([float(cell) if cell else fill for cell in cells])[:, None]
        codes = np.array([self._code(index, cell) for cell in cells])
        return np.eye(column["size"])[codes] if self.one_hot else codes[:, None].astype(float)

    def decode_target(self, codes: Any) -> list[str]:
        """The classes, as the training data writes them, of numbers that the model predicts."""
        classes = self.target.get("classes")
        return [classes[int(code)] if classes else str(code) for code in codes]

    def _code(self, index: int, cell: str) -> int:
        """Categories that the training data doesn't have share the last code."""
        column = self.columns[index]
        if "buckets" in column:
            return zlib.crc32(cell.encode()) % int(column["buckets"])
        return self._codes[index].get(cell, int(column["size"]) - 1)
