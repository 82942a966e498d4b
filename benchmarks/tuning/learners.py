"""Real tuning problems: learners of scikit-learn on data sets that come with it.

Losses are cached in a file, by problem and point: they don't depend on the seed of a search.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from typing import TYPE_CHECKING

import numpy as np
from problems import Problem
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from small_learners import SMALL

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


def support_vectors(point: Point) -> float:
    values = dict(point)
    x, y = load_breast_cancer(return_X_y=True)
    learner = make_pipeline(StandardScaler(), SVC(**values, max_iter=20000))
    return -float(cross_val_score(learner, x, y, cv=_folds(), scoring="accuracy").mean())


def boosting(point: Point) -> float:
    x, y = (part[:250] for part in load_diabetes(return_X_y=True))
    learner = GradientBoostingRegressor(**point, random_state=0)
    folds = KFold(3, shuffle=True, random_state=0)
    return -float(cross_val_score(learner, x, y, cv=folds, scoring="r2").mean())


def forest(point: Point) -> float:
    x, y = load_wine(return_X_y=True)
    learner = RandomForestClassifier(**point, n_estimators=10, random_state=0)
    return -float(cross_val_score(learner, x, y, cv=_folds(), scoring="neg_log_loss").mean())


def descent(point: Point) -> float:
    x, y = load_digits(return_X_y=True)
    learner = SGDClassifier(**point, max_iter=8, tol=None, random_state=0)
    pipeline = make_pipeline(StandardScaler(), learner)
    return -float(cross_val_score(pipeline, x[:400], y[:400], cv=_folds()).mean())


def network(point: Point) -> float:
    values = dict(point)
    sizes = (int(values.pop("width")),) * int(values.pop("layers"))
    x, y = load_digits(return_X_y=True)
    learner = MLPClassifier(sizes, **values, max_iter=12, random_state=0)
    pipeline = make_pipeline(StandardScaler(), learner)
    scores = cross_val_score(pipeline, x[:500], y[:500], cv=_folds(), scoring="neg_log_loss")
    return -float(scores.mean())


def _folds() -> StratifiedKFold:
    return StratifiedKFold(3, shuffle=True, random_state=0)


KERNEL = CategoricalParameter(
    "kernel",
    ("linear", "rbf", "poly", "sigmoid"),
    branches=(
        Branch(("rbf", "poly", "sigmoid"), _double("gamma", 1e-5, 1.0)),
        Branch(("poly",), IntegerParameter("degree", 2, 5)),
        Branch(("poly", "sigmoid"), DoubleParameter("coef0", 0.0, 2.0)),
    ),
)
SCHEDULE = CategoricalParameter(
    "learning_rate",
    ("optimal", "constant", "invscaling", "adaptive"),
    branches=(
        Branch(("constant", "invscaling", "adaptive"), _double("eta0", 1e-5, 1.0)),
        Branch(("invscaling",), DoubleParameter("power_t", 0.0, 1.0)),
    ),
)
PENALTY = CategoricalParameter(
    "penalty",
    ("l2", "l1", "elasticnet"),
    branches=(Branch(("elasticnet",), DoubleParameter("l1_ratio", 0.0, 1.0)),),
)
SOLVER = CategoricalParameter(
    "solver",
    ("adam", "sgd"),
    branches=(Branch(("sgd",), DoubleParameter("momentum", 0.0, 0.99)),),
)
LEARNERS: dict[str, tuple[str, Callable[[Point], float], SearchSpace]] = {
    "svm": ("conditional", support_vectors, SearchSpace((_double("C", 1e-3, 1e3), KERNEL))),
    "sgd": (
        "conditional",
        descent,
        SearchSpace(
            (
                CategoricalParameter("loss", ("hinge", "log_loss", "modified_huber")),
                _double("alpha", 1e-7, 1.0),
                PENALTY,
                SCHEDULE,
            )
        ),
    ),
    "mlp": (
        "conditional",
        network,
        SearchSpace(
            (
                IntegerParameter("layers", 1, 3),
                DiscreteParameter("width", (8.0, 16.0, 32.0, 64.0)),
                CategoricalParameter("activation", ("relu", "tanh", "logistic")),
                _double("alpha", 1e-6, 1.0),
                _double("learning_rate_init", 1e-4, 0.3),
                SOLVER,
            )
        ),
    ),
    "boosting": (
        "mixed",
        boosting,
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
        forest,
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
