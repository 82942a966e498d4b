"""More tuning problems: learners so small that a loss takes some hundredths of a second.

They are for trying out changes of the method: what is chosen on these is checked on ``learners``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

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
    from collections.abc import Callable

    from footplate.domain.studies.space import Point

LOG = Scale.LOG
_SCALERS: dict[str, Any] = {
    "none": None,
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "robust": RobustScaler,
}


def _double(name: str, low: float, high: float) -> DoubleParameter:
    return DoubleParameter(name, low, high, LOG)


def _classified(learner: Any, data: Any, scoring: str = "accuracy", rows: int = 10_000) -> float:
    x, y = data(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(x))[:rows]
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    scores = cross_val_score(learner, x[chosen], y[chosen], cv=folds, scoring=scoring)
    return -float(scores.mean())


def _regressed(learner: Any, rows: int = 10_000) -> float:
    x, y = (part[:rows] for part in load_diabetes(return_X_y=True))
    y = (y - y.mean()) / y.std()
    folds = KFold(3, shuffle=True, random_state=1)
    return -float(cross_val_score(learner, x * 20.0, y, cv=folds, scoring="r2").mean())


def wine_vectors(point: Point) -> float:
    return _classified(
        make_pipeline(StandardScaler(), SVC(**dict(point), max_iter=5000)), load_wine
    )


def support_regression(point: Point) -> float:
    return _regressed(SVR(**dict(point), max_iter=5000), rows=250)


def neighbours(point: Point) -> float:
    values: dict[str, Any] = dict(point)
    scaler = _SCALERS[str(values.pop("scaler"))]
    steps = [] if scaler is None else [scaler()]
    if values.pop("reduce") == "pca":
        steps.append(PCA(int(values.pop("components")), random_state=0))
    return _classified(make_pipeline(*steps, KNeighborsClassifier(**values)), load_digits, rows=400)


def tree(point: Point) -> float:
    learner = DecisionTreeClassifier(**dict(point), random_state=0)
    return _classified(learner, load_breast_cancer, "neg_log_loss")


def logistic(point: Point) -> float:
    values: dict[str, Any] = dict(point)
    values["l1_ratio"] = {"l1": 1.0, "l2": 0.0}.get(values.pop("penalty"), values.get("l1_ratio"))
    scaler = _SCALERS[str(values.pop("scaler"))]
    steps = [] if scaler is None else [scaler()]
    learner = LogisticRegression(**values, solver="saga", max_iter=30, random_state=0)
    return _classified(make_pipeline(*steps, learner), load_breast_cancer, "neg_log_loss", 200)


def any_regressor(point: Point) -> float:
    values: dict[str, Any] = dict(point)
    made: dict[str, Any] = {
        "ridge": Ridge,
        "lasso": Lasso,
        "kernel": KernelRidge,
        "neighbours": KNeighborsRegressor,
        "vectors": SVR,
    }
    return _regressed(made[str(values.pop("model"))](**values), rows=250)


def small_boosting(point: Point) -> float:
    learner = GradientBoostingClassifier(**dict(point), random_state=0)
    return _classified(learner, load_wine, "neg_log_loss", rows=120)


def small_network(point: Point) -> float:
    values: dict[str, Any] = dict(point)
    values["batch_size"] = int(values["batch_size"])
    learner = MLPClassifier((int(values.pop("width")),), **values, max_iter=25, random_state=0)
    return _classified(make_pipeline(StandardScaler(), learner), load_iris, "neg_log_loss")


def extra_trees(point: Point) -> float:
    return _regressed(ExtraTreesRegressor(**dict(point), n_estimators=8, random_state=0), rows=250)


_SCALER = CategoricalParameter("scaler", tuple(_SCALERS))
_KERNEL = CategoricalParameter(
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
        wine_vectors,
        SearchSpace((_double("C", 1e-3, 1e3), _KERNEL)),
    ),
    "svr": (
        "small-conditional",
        support_regression,
        SearchSpace((_double("C", 1e-2, 1e3), DoubleParameter("epsilon", 0.0, 1.0), _KERNEL)),
    ),
    "neighbours": (
        "small-conditional",
        neighbours,
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
    "regressors": ("small-conditional", any_regressor, SearchSpace((_MODEL,))),
    "logistic": (
        "small-conditional",
        logistic,
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
        tree,
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
        small_boosting,
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
        small_network,
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
        extra_trees,
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
