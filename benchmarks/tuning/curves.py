"""Learning curves: of made-up trainings by several laws, and of real ones.

A training is a row of losses, one for each epoch; what is measured may be noisy. Each family has a
space whose best settings are moved by the seed.
"""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Protocol

import numpy as np
from laws import LAWS, OTHERS, Setting

from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.tuning.encoding import Encoding
from footplate.tuning.sampling import draw, generator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from footplate.domain.studies.space import Point

    Floats = NDArray[np.float64]

EPOCHS = 27
_JUDGES = 3000
"""So many random trainings say what the top 1 % is."""
_TOP = 0.01


class Trainings(Protocol):
    name: str
    space: SearchSpace
    target: float
    """The least final loss of the top 1 % is this, or less."""

    def point(self, rng: np.random.Generator) -> Point: ...

    def true(self, point: Point) -> Floats:
        """The losses without noise, for each epoch."""
        ...

    def measured(self, point: Point, rng: np.random.Generator) -> Floats: ...


_SPACE = SearchSpace(
    (
        DoubleParameter("rate", 1e-5, 1.0, Scale.LOG),
        DoubleParameter("decay", 1e-6, 1e-1, Scale.LOG),
        IntegerParameter("width", 8, 512, Scale.LOG),
        CategoricalParameter("activation", ("relu", "tanh", "gelu")),
    )
)


class Made:
    """The final loss is a valley along the axes, with ripples that no model knows of."""

    space = _SPACE

    def __init__(self, name: str, seed: int) -> None:
        self.name = name
        self._law, self._noise = {**LAWS, **OTHERS}[name]
        rng = np.random.default_rng([seed, len(name)])
        self._best = rng.uniform(0.2, 0.8, 3)
        self._steep = rng.uniform(0.5, 4.0, 3)
        self._kinds = rng.uniform(0.0, 0.3, 3)
        self._waves = rng.uniform(5.0, 15.0, 3)
        self._encoding = Encoding(self.space)
        points = [draw(self.space, generator(seed, 1, i)) for i in range(_JUDGES)]
        ends = np.array([np.nan_to_num(self.true(p)[-1], nan=np.inf) for p in points])
        self.target = float(np.quantile(ends, _TOP))

    def point(self, rng: np.random.Generator) -> Point:
        return draw(self.space, rng)

    def true(self, point: Point) -> Floats:
        row = self._encoding.row(point)
        at, kind = row[:3], int(row[3])
        valley = float(self._steep @ (at - self._best) ** 2) + self._kinds[kind]
        ripples = 0.05 * float(np.sin(self._waves * at).sum())
        final = 0.1 + min(1.4, 0.15 + valley + ripples)
        luck, whim = 0.5 + 0.5 * np.sin(np.array([37.0, 91.0]) * at.sum())
        ts = np.arange(1, EPOCHS + 1) / EPOCHS
        return self._law(Setting(final, float(at[0]), float(luck), float(whim), ts))

    def measured(self, point: Point, rng: np.random.Generator) -> Floats:
        return self.true(point) + self._noise * rng.standard_normal(EPOCHS)


class Recorded:
    """Real trainings, in an order of each seed; nothing is interpolated."""

    def __init__(self, name: str, points: Sequence[Point], losses: Floats) -> None:
        self.name, self.space = name, _TRAINED[name]
        self._points = points
        self._curves = {_key(point): row for point, row in zip(points, losses, strict=True)}
        ends = np.nan_to_num(losses[:, -1], nan=np.inf)
        self.target = float(np.sort(ends)[max(1, round(_TOP * len(ends))) - 1])

    def point(self, rng: np.random.Generator) -> Point:
        return self._points[int(rng.integers(len(self._points)))]

    def true(self, point: Point) -> Floats:
        return self._curves[_key(point)]

    def measured(self, point: Point, rng: np.random.Generator) -> Floats:  # noqa: ARG002 - they are measured
        return self.true(point)


def recorded(name: str, count: int, cache: Path) -> Recorded:
    """Trains ``count`` random settings, where the file hasn't got them yet."""
    path = cache / f"curves-{name}-{count}.json"
    points = [draw(_TRAINED[name], generator(0, i)) for i in range(count)]
    if not path.exists():
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            path.write_text(json.dumps([_TRAIN[name](point) for point in points]))
    return Recorded(name, points, np.array(json.loads(path.read_text()), np.float64))


def _key(point: Point) -> str:
    return json.dumps(point, sort_keys=True)


def _digits() -> tuple[Floats, Floats, Floats, Floats]:
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    parts = train_test_split(x / 16.0, y, train_size=500, test_size=600, random_state=0)
    return tuple(parts)  # type: ignore[return-value]  # x, x, y, y


def _network(point: Point) -> list[float]:
    from sklearn.neural_network import MLPClassifier

    values = dict(point)
    width = int(values.pop("width"))
    learner = MLPClassifier((width,), **values, solver="sgd", random_state=0)
    return _trained(learner)


def _descent(point: Point) -> list[float]:
    from sklearn.linear_model import SGDClassifier

    values = dict(point)
    return _trained(SGDClassifier(**values, learning_rate="constant", random_state=0))


def _trained(learner: object) -> list[float]:
    """The share of wrong answers after each epoch."""
    x, test_x, y, test_y = _digits()
    wrong = []
    for _ in range(EPOCHS):
        learner.partial_fit(x, y, classes=np.unique(y))  # type: ignore[attr-defined]  # scikit-learn's
        wrong.append(1.0 - float(learner.score(test_x, test_y)))  # type: ignore[attr-defined]
    return wrong


_TRAINED = {
    "digits-mlp": SearchSpace(
        (
            DoubleParameter("learning_rate_init", 1e-4, 3.0, Scale.LOG),
            DoubleParameter("alpha", 1e-6, 1.0, Scale.LOG),
            DoubleParameter("momentum", 0.0, 0.98),
            IntegerParameter("width", 4, 64, Scale.LOG),
            IntegerParameter("batch_size", 8, 128, Scale.LOG),
            CategoricalParameter("activation", ("relu", "tanh", "logistic")),
        )
    ),
    "digits-sgd": SearchSpace(
        (
            DoubleParameter("eta0", 1e-6, 1.0, Scale.LOG),
            DoubleParameter("alpha", 1e-8, 1.0, Scale.LOG),
            CategoricalParameter("loss", ("hinge", "log_loss", "modified_huber")),
            CategoricalParameter("penalty", ("l1", "l2", "elasticnet")),
        )
    ),
}
_TRAIN: dict[str, Callable[[Point], list[float]]] = {
    "digits-mlp": _network,
    "digits-sgd": _descent,
}
