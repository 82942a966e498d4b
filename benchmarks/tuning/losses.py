"""The losses of real learners: of scikit-learn, on data sets that come with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

if TYPE_CHECKING:
    from footplate.domain.studies.space import Point

SCALERS: dict[str, Any] = {
    "none": None,
    "standard": StandardScaler,
    "minmax": MinMaxScaler,
    "robust": RobustScaler,
}


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
    scaler = SCALERS[str(values.pop("scaler"))]
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
    scaler = SCALERS[str(values.pop("scaler"))]
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
