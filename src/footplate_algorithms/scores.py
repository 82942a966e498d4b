"""The quality of predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_SMALLEST = 1e-7


class ClassScores:
    """The scores of a classifier, summed over pieces of ``probabilities`` and ``classes``."""

    def __init__(self) -> None:
        self._rows = 0
        self._right = 0
        self._loss = 0.0

    def add(self, probabilities: NDArray[Any], classes: NDArray[Any]) -> None:
        right = classes.astype(int)
        chosen = probabilities[np.arange(len(right)), right].astype(float)
        self._rows += len(right)
        self._right += int((probabilities.argmax(axis=1) == right).sum())
        self._loss -= float(np.log(np.maximum(chosen, _SMALLEST)).sum())

    def scores(self) -> dict[str, float]:
        accuracy = self._right / self._rows
        return {"accuracy": accuracy, "error": 1 - accuracy, "loss": self._loss / self._rows}


class NumberScores:
    """The scores of a regression, summed over pieces; ``loss`` is the mean square error."""

    def __init__(self) -> None:
        self._rows = 0
        self._squares = 0.0
        self._distance = 0.0

    def add(self, predicted: NDArray[Any], right: NDArray[Any]) -> None:
        difference = predicted.astype(float) - right
        self._rows += len(difference)
        self._squares += float(np.square(difference).sum())
        self._distance += float(np.abs(difference).sum())

    def scores(self) -> dict[str, float]:
        loss = self._squares / self._rows
        return {"rmse": loss**0.5, "mae": self._distance / self._rows, "loss": loss}


def shown(scores: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{name} {value:.6g}" for name, value in scores)
