"""Learners whose loss jumps, over spaces of some thousand points, each measured once.

A search then takes no more than the tuner's own time, and the least loss there is is known. So
enough searches can be run to tell two methods apart. No loss is emulated: a table has one for each
point. Of real numbers only a share of features is there: a learner takes a whole number of them,
so a table of these numbers has all losses. It takes a minute or so to make, and is kept as a file
in the cache's folder.
"""

from __future__ import annotations

import os
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from problems import Problem
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace, key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from footplate.domain.studies.space import Point

    Floats = NDArray[np.float64]
    Data = tuple[Floats, Floats]
    Measure = Callable[[Point], float]

SUITE = "tables"
_FOLDS = 3
_FEW = 10
"""Of the thirty features of a cancer, so many are measured and not derived."""
SCALERS: dict[str, Any] = {
    "none": None,
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "robust": RobustScaler,
}


@cache
def some(rows: int, load: Callable[..., Any]) -> Data:
    x, y = load(return_X_y=True)
    chosen = np.random.default_rng(3).permutation(len(x))[:rows]
    return np.asarray(x[chosen], np.float64), y[chosen]


def _split(x: Floats) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    return KFold(_FOLDS, shuffle=True, random_state=3).split(x)


def _classified(learner: Any, data: Data) -> float:
    """Mean log loss over the folds."""
    x, y = data
    labels = np.unique(y)
    found = []
    for train, rest in _split(x):
        learner.fit(x[train], y[train])
        shares = np.full((len(rest), len(labels)), 1e-9)
        shares[:, np.searchsorted(labels, learner.classes_)] += learner.predict_proba(x[rest])
        right = shares[np.arange(len(rest)), np.searchsorted(labels, y[rest])]
        found.append(-np.log(right / shares.sum(axis=1)).mean())
    return float(np.mean(found))


def missed(learner: Any, data: Data) -> float:
    """The share of wrong answers over the folds."""
    x, y = data
    found = [np.mean(learner.fit(x[a], y[a]).predict(x[b]) != y[b]) for a, b in _split(x)]
    return float(np.mean(found))


def off(learner: Any, data: Data) -> float:
    """Mean squared error over the folds, in variances of the data."""
    x, y = data
    found = [np.mean((learner.fit(x[a], y[a]).predict(x[b]) - y[b]) ** 2) for a, b in _split(x)]
    return float(np.mean(found) / y.var())


def _tree_wine(point: Point) -> float:
    return _classified(DecisionTreeClassifier(**point, random_state=3), some(178, load_wine))


def _tree_digits(point: Point) -> float:
    return missed(DecisionTreeClassifier(**point, random_state=3), some(250, load_digits))


def _tree_diabetes(point: Point) -> float:
    return off(DecisionTreeRegressor(**point, random_state=3), some(300, load_diabetes))


def _extra_diabetes(point: Point) -> float:
    learner = ExtraTreesRegressor(**point, n_estimators=4, random_state=3)
    return off(learner, some(250, load_diabetes))


def _forest_cancer(point: Point) -> float:
    settings = dict(point) | {"bootstrap": point["bootstrap"] == "yes"}
    learner = RandomForestClassifier(**settings, n_estimators=4, random_state=3)
    x, y = some(200, load_breast_cancer)
    return _classified(learner, (x[:, :_FEW], y))


def _boosting_diabetes(point: Point) -> float:
    learner = GradientBoostingRegressor(**point, random_state=3)
    return off(learner, some(200, load_diabetes))


def _neighbours_digits(point: Point) -> float:
    apart = distances(str(point["scaler"]), str(point["metric"]))
    return wrong_neighbours(apart, int(point["n_neighbors"]), str(point["weights"]))


def wrong_neighbours(apart: Floats, near: int, weights: str) -> float:
    """The share of digits that the nearest others take for another one."""
    _, y = some(240, load_digits)
    found = []
    for train, rest in _split(apart):
        order = np.argsort(apart[np.ix_(rest, train)], axis=1, kind="stable")
        nearest = order[:, :near]
        counts = np.ones(nearest.shape)
        if weights == "distance":
            counts /= np.take_along_axis(apart[np.ix_(rest, train)], nearest, axis=1) + 1e-9
        votes = np.zeros((len(rest), int(y.max()) + 1))
        np.add.at(votes, (np.arange(len(rest))[:, None], y[train][nearest].astype(int)), counts)
        found.append(np.mean(votes.argmax(axis=1) != y[rest]))
    return float(np.mean(found))


@cache
def distances(scaler: str, metric: str, size: int = 0) -> Floats:
    """Between digits; ``size``: of so many principal components, 0: of them as they are."""
    x, _ = some(240, load_digits)
    made = SCALERS[scaler]
    if made is not None:
        x = made().fit_transform(x)
    if size:
        x = PCA(size, random_state=3).fit_transform(x)
    return np.nan_to_num(cdist(x, x, metric))


def _descent_wine(point: Point) -> float:
    settings: dict[str, Any] = dict(point)
    x, y = some(178, load_wine)
    x = StandardScaler().fit_transform(x)[:, :4]
    learner = SGDClassifier(**settings, learning_rate="constant", tol=None, random_state=3)
    return missed(learner, (x, y))


LOG = Scale.LOG


def kinds(name: str, *found: str) -> CategoricalParameter:
    return CategoricalParameter(name, found)


def values(name: str, *found: float, scale: Scale = Scale.NONE) -> DiscreteParameter:
    return DiscreteParameter(name, found, scale)


def powers(name: str, low: float, high: float, count: int) -> DiscreteParameter:
    found = (float(f"{value:.3g}") for value in np.geomspace(low, high, count))
    return values(name, *found, scale=LOG)


_SHARE = "max_features"
_FEATURES = DoubleParameter(_SHARE, 0.05, 1.0)
_LEAF = IntegerParameter("min_samples_leaf", 1, 20, LOG)
TABLES: dict[str, tuple[Measure, SearchSpace, int]] = {
    "tree-wine": (
        _tree_wine,
        SearchSpace(
            (
                kinds("criterion", "gini", "entropy"),
                kinds("splitter", "best", "random"),
                IntegerParameter("max_depth", 1, 8),
                IntegerParameter("min_samples_leaf", 1, 12, LOG),
                _FEATURES,
                powers("ccp_alpha", 1e-3, 1e-1, 3),
            )
        ),
        13,
    ),
    "tree-digits": (
        _tree_digits,
        SearchSpace(
            (
                kinds("criterion", "gini", "entropy"),
                kinds("splitter", "best", "random"),
                IntegerParameter("max_depth", 2, 13),
                IntegerParameter("min_samples_leaf", 1, 12, LOG),
                IntegerParameter("max_features", 4, 16),
            )
        ),
        0,
    ),
    "tree-diabetes": (
        _tree_diabetes,
        SearchSpace(
            (
                kinds("criterion", "squared_error", "friedman_mse", "poisson"),
                kinds("splitter", "best", "random"),
                IntegerParameter("max_depth", 1, 10),
                _LEAF,
                IntegerParameter("max_features", 1, 10),
            )
        ),
        0,
    ),
    "extra-diabetes": (
        _extra_diabetes,
        SearchSpace(
            (
                kinds("criterion", "squared_error", "friedman_mse"),
                IntegerParameter("max_depth", 1, 12),
                _LEAF,
                _FEATURES,
            )
        ),
        10,
    ),
    "forest-cancer": (
        _forest_cancer,
        SearchSpace(
            (
                kinds("criterion", "gini", "entropy"),
                kinds("bootstrap", "yes", "no"),
                IntegerParameter("max_depth", 1, 8),
                IntegerParameter("min_samples_leaf", 1, 12, LOG),
                _FEATURES,
            )
        ),
        _FEW,
    ),
    "boosting-diabetes": (
        _boosting_diabetes,
        SearchSpace(
            (
                IntegerParameter("n_estimators", 2, 7, LOG),
                powers("learning_rate", 0.05, 1.0, 6),
                IntegerParameter("max_depth", 1, 4),
                values("subsample", 0.4, 0.7, 1.0),
                _FEATURES,
            )
        ),
        10,
    ),
    "neighbours-digits": (
        _neighbours_digits,
        SearchSpace(
            (
                kinds("scaler", *SCALERS),
                IntegerParameter("n_neighbors", 1, 80, LOG),
                kinds("weights", "uniform", "distance"),
                kinds("metric", "euclidean", "cityblock", "chebyshev", "cosine", "canberra"),
            )
        ),
        0,
    ),
    "descent-wine": (
        _descent_wine,
        SearchSpace(
            (
                kinds("loss", "hinge", "log_loss", "modified_huber", "squared_hinge"),
                kinds("penalty", "l2", "l1", "elasticnet"),
                powers("alpha", 1e-6, 1e-1, 11),
                powers("eta0", 1e-4, 1.0, 9),
                IntegerParameter("max_iter", 1, 8),
            )
        ),
        0,
    ),
}


class Table:
    """``features``: how many there are to take a share of; 0: the space has no such parameter."""

    def __init__(self, path: Path, measure: Measure, space: SearchSpace, features: int = 0) -> None:
        self._path, self._measure, self._features = path, measure, features
        whole = IntegerParameter(_SHARE, 1, max(features, 1))
        parameters = (whole if p is _FEATURES else p for p in space.parameters)
        self._cells = SearchSpace(tuple(parameters))

    def __call__(self, point: Point) -> float:
        """Of a share as scikit-learn reads it."""
        if not self._features:
            return self._losses[key(point)]
        taken = max(1, int(float(point[_SHARE]) * self._features))
        return self._losses[key({**point, _SHARE: taken})]

    @property
    def least(self) -> float:
        return float(np.nanmin(list(self._losses.values())))

    @cached_property
    def _losses(self) -> dict[Hashable, float]:
        points = [self._cells.point_at(index) for index in range(self._cells.size or 0)]
        if not self._path.exists():
            self._keep([self._measured(point) for point in points])
        with np.load(self._path) as kept:
            losses = kept["losses"]
        if len(losses) != len(points):
            raise ValueError(f"{self._path}: of another space; remove it, and it is made again")
        return {key(p): float(loss) for p, loss in zip(points, losses, strict=True)}

    def _measured(self, point: Point) -> float:
        with sklearn.config_context(assume_finite=True, skip_parameter_validation=True):
            return self._measure(point)

    def _keep(self, losses: list[float]) -> None:
        """Whole or not at all: another process may make it at the same time."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(partial, losses=np.array(losses))
        partial.replace(self._path)


@cache
def problem(name: str, folder: Path) -> Problem:
    """Its table is made if the folder has none."""
    measure, space, features = TABLES[name]
    table = Table(folder / f"{name}.npz", measure, space, features)
    return Problem(SUITE, name, space, table, table.least)
