"""Real tuning problems: learners of scikit-learn, with the spaces that they are tuned in.

Small ones take some hundredths of a second for a loss. They are for trying out changes of the
method: what is chosen on these is checked on the others. Losses are cached in a file, by problem
and point: they don't depend on the seed of a search.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from typing import TYPE_CHECKING

import losses
import numpy as np
from problems import Problem

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from footplate.domain.studies.space import Point

LOG = Scale.LOG


def _double(name: str, low: float, high: float) -> DoubleParameter:
    return DoubleParameter(name, low, high, LOG)


_KERNEL = CategoricalParameter(
    "kernel",
    ("linear", "rbf", "poly", "sigmoid"),
    branches=(
        Branch(("rbf", "poly", "sigmoid"), _double("gamma", 1e-5, 1.0)),
        Branch(("poly",), IntegerParameter("degree", 2, 5)),
        Branch(("poly", "sigmoid"), DoubleParameter("coef0", 0.0, 2.0)),
    ),
)
_SCHEDULE = CategoricalParameter(
    "learning_rate",
    ("optimal", "constant", "invscaling", "adaptive"),
    branches=(
        Branch(("constant", "invscaling", "adaptive"), _double("eta0", 1e-5, 1.0)),
        Branch(("invscaling",), DoubleParameter("power_t", 0.0, 1.0)),
    ),
)
_PENALTY = CategoricalParameter(
    "penalty",
    ("l2", "l1", "elasticnet"),
    branches=(Branch(("elasticnet",), DoubleParameter("l1_ratio", 0.0, 1.0)),),
)
_SOLVER = CategoricalParameter(
    "solver",
    ("adam", "sgd"),
    branches=(Branch(("sgd",), DoubleParameter("momentum", 0.0, 0.99)),),
)
LEARNERS: dict[str, tuple[str, Callable[[Point], float], SearchSpace]] = {
    "svm": ("conditional", losses.support_vectors, SearchSpace((_double("C", 1e-3, 1e3), _KERNEL))),
    "sgd": (
        "conditional",
        losses.descent,
        SearchSpace(
            (
                CategoricalParameter("loss", ("hinge", "log_loss", "modified_huber")),
                _double("alpha", 1e-7, 1.0),
                _PENALTY,
                _SCHEDULE,
            )
        ),
    ),
    "mlp": (
        "conditional",
        losses.network,
        SearchSpace(
            (
                IntegerParameter("layers", 1, 3),
                DiscreteParameter("width", (8.0, 16.0, 32.0, 64.0)),
                CategoricalParameter("activation", ("relu", "tanh", "logistic")),
                _double("alpha", 1e-6, 1.0),
                _double("learning_rate_init", 1e-4, 0.3),
                _SOLVER,
            )
        ),
    ),
    "boosting": (
        "mixed",
        losses.boosting,
        SearchSpace(
            (
                IntegerParameter("n_estimators", 5, 60, LOG),
                _double("learning_rate", 0.005, 0.5),
                IntegerParameter("max_depth", 1, 6),
                DoubleParameter("subsample", 0.3, 1.0),
                IntegerParameter("min_samples_leaf", 1, 40, LOG),
                DiscreteParameter("max_features", (0.1, 0.2, 0.35, 0.5, 0.75, 1.0)),
                CategoricalParameter("loss", ("squared_error", "absolute_error", "huber")),
            )
        ),
    ),
    "forest": (
        "mixed",
        losses.forest,
        SearchSpace(
            (
                IntegerParameter("max_depth", 1, 12),
                IntegerParameter("min_samples_leaf", 1, 20, LOG),
                DoubleParameter("max_features", 0.05, 1.0),
                CategoricalParameter("criterion", ("gini", "entropy", "log_loss")),
                DoubleParameter("min_impurity_decrease", 0.0, 0.2),
                DiscreteParameter("max_samples", (0.3, 0.5, 0.7, 0.9)),
            )
        ),
    ),
}
_SCALER = CategoricalParameter("scaler", tuple(losses.SCALERS))
_SMALL_KERNEL = CategoricalParameter(
    "kernel",
    ("linear", "rbf", "poly"),
    branches=(
        Branch(("rbf", "poly"), _double("gamma", 1e-5, 1.0)),
        Branch(("poly",), IntegerParameter("degree", 2, 4)),
    ),
)
_MODEL = CategoricalParameter(
    "model",
    ("ridge", "lasso", "kernel", "neighbours", "vectors"),
    branches=(
        Branch(("ridge", "lasso"), _double("alpha", 1e-4, 1e3)),
        Branch(("kernel",), CategoricalParameter("kernel", ("rbf", "laplacian"))),
        Branch(("kernel",), _double("alpha", 1e-4, 1e3)),
        Branch(("kernel", "vectors"), _double("gamma", 1e-4, 1.0)),
        Branch(("neighbours",), IntegerParameter("n_neighbors", 1, 60, LOG)),
        Branch(("neighbours",), CategoricalParameter("weights", ("uniform", "distance"))),
        Branch(("vectors",), _double("C", 1e-2, 1e3)),
    ),
)
SMALL: dict[str, tuple[str, Callable[[Point], float], SearchSpace]] = {
    "wine-svm": (
        "small-conditional",
        losses.wine_vectors,
        SearchSpace((_double("C", 1e-3, 1e3), _SMALL_KERNEL)),
    ),
    "svr": (
        "small-conditional",
        losses.support_regression,
        SearchSpace((_double("C", 1e-2, 1e3), DoubleParameter("epsilon", 0.0, 1.0), _SMALL_KERNEL)),
    ),
    "neighbours": (
        "small-conditional",
        losses.neighbours,
        SearchSpace(
            (
                _SCALER,
                CategoricalParameter(
                    "reduce",
                    ("none", "pca"),
                    branches=(Branch(("pca",), IntegerParameter("components", 2, 40)),),
                ),
                IntegerParameter("n_neighbors", 1, 40, LOG),
                CategoricalParameter("weights", ("uniform", "distance")),
                DiscreteParameter("p", (1.0, 1.5, 2.0, 3.0)),
            )
        ),
    ),
    "regressors": ("small-conditional", losses.any_regressor, SearchSpace((_MODEL,))),
    "logistic": (
        "small-conditional",
        losses.logistic,
        SearchSpace(
            (
                _SCALER,
                _double("C", 1e-4, 1e3),
                CategoricalParameter(
                    "penalty",
                    ("l1", "l2", "elasticnet"),
                    branches=(Branch(("elasticnet",), DoubleParameter("l1_ratio", 0.0, 1.0)),),
                ),
                _double("tol", 1e-5, 1e-1),
            )
        ),
    ),
    "tree": (
        "small-mixed",
        losses.tree,
        SearchSpace(
            (
                IntegerParameter("max_depth", 1, 15),
                IntegerParameter("min_samples_leaf", 1, 60, LOG),
                IntegerParameter("min_samples_split", 2, 60, LOG),
                DoubleParameter("max_features", 0.05, 1.0),
                CategoricalParameter("criterion", ("gini", "entropy")),
                _double("ccp_alpha", 1e-5, 1e-1),
            )
        ),
    ),
    "wine-boosting": (
        "small-mixed",
        losses.small_boosting,
        SearchSpace(
            (
                IntegerParameter("n_estimators", 2, 20, LOG),
                _double("learning_rate", 0.01, 1.0),
                IntegerParameter("max_depth", 1, 5),
                DoubleParameter("subsample", 0.3, 1.0),
                DiscreteParameter("max_features", (0.1, 0.2, 0.35, 0.5, 1.0)),
                CategoricalParameter("criterion", ("friedman_mse", "squared_error")),
            )
        ),
    ),
    "iris-mlp": (
        "small-mixed",
        losses.small_network,
        SearchSpace(
            (
                DiscreteParameter("width", (4.0, 8.0, 16.0, 32.0)),
                CategoricalParameter("activation", ("relu", "tanh", "logistic")),
                CategoricalParameter("solver", ("adam", "sgd")),
                _double("alpha", 1e-6, 1.0),
                _double("learning_rate_init", 1e-4, 1.0),
                DiscreteParameter("batch_size", (8.0, 16.0, 32.0, 64.0)),
            )
        ),
    ),
    "extra-trees": (
        "small-mixed",
        losses.extra_trees,
        SearchSpace(
            (
                IntegerParameter("max_depth", 1, 15),
                IntegerParameter("min_samples_leaf", 1, 30, LOG),
                DoubleParameter("max_features", 0.05, 1.0),
                DoubleParameter("min_impurity_decrease", 0.0, 0.1),
                CategoricalParameter("criterion", ("squared_error", "friedman_mse")),
            )
        ),
    ),
}


def problems(cache: Path) -> Iterator[Problem]:
    for name, (suite, function, space) in {**LEARNERS, **SMALL}.items():
        yield Problem(suite, name, space, _Cached(name, function, cache))


class _Cached:
    def __init__(self, name: str, function: Callable[[Point], float], path: Path) -> None:
        self._name, self._function, self._path = name, function, path

    def __call__(self, point: Point) -> float:
        asked = self._name, json.dumps(point, sort_keys=True)
        with sqlite3.connect(self._path, timeout=60) as base:
            base.execute(
                "CREATE TABLE IF NOT EXISTS losses (name, point, loss, UNIQUE(name, point))"
            )
            row = base.execute(
                "SELECT loss FROM losses WHERE name = ? AND point = ?", asked
            ).fetchone()
        if row is not None:
            return float(row[0])
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            loss = self._function(point)
        loss = loss if np.isfinite(loss) else 100.0
        with sqlite3.connect(self._path, timeout=60) as base:
            base.execute("INSERT OR IGNORE INTO losses VALUES (?, ?, ?)", (*asked, loss))
        return loss
