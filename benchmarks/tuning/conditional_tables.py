"""Learners whose spaces have conditions, over some thousand points, each measured once.

Like ``tables``: a search takes no more than the tuner's own time, and the least loss is known.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from problems import Problem
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeRegressor
from tables import (
    SCALERS,
    Table,
    distances,
    kinds,
    missed,
    off,
    powers,
    some,
    values,
    wrong_neighbours,
)

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    IntegerParameter,
    Parameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace

if TYPE_CHECKING:
    from pathlib import Path

    from tables import Measure

    from footplate.domain.studies.space import Point

SUITE = "conditional-tables"
LOG = Scale.LOG


def _vectors_wine(point: Point) -> float:
    x, y = some(178, load_wine)
    return missed(SVC(**point, max_iter=2000), (StandardScaler().fit_transform(x)[:, :5], y))


def _vectors_diabetes(point: Point) -> float:
    x, y = some(150, load_diabetes)
    return off(SVR(**point, max_iter=2000), (20.0 * x, y / y.std()))


def _regressors_diabetes(point: Point) -> float:
    settings: dict[str, Any] = dict(point)
    made: dict[str, Any] = {
        "ridge": Ridge,
        "lasso": Lasso,
        "kernel": KernelRidge,
        "neighbours": KNeighborsRegressor,
        "vectors": SVR,
        "tree": _tree,
    }
    x, y = some(200, load_diabetes)
    learner = made[settings.pop("model")](**settings)
    return off(learner, (20.0 * x, (y - y.mean()) / y.std()))


def _ensembles_diabetes(point: Point) -> float:
    settings: dict[str, Any] = dict(point)
    made: dict[str, Any] = {
        "forest": RandomForestRegressor,
        "extra": ExtraTreesRegressor,
        "boosting": GradientBoostingRegressor,
        "tree": DecisionTreeRegressor,
    }
    kind = settings.pop("model")
    few = {"n_estimators": 3} if kind in ("forest", "extra") else {}
    return off(made[kind](**settings, **few, random_state=3), some(200, load_diabetes))


def _tree(**settings: Any) -> DecisionTreeRegressor:
    return DecisionTreeRegressor(**settings, random_state=3)


def _descent_cancer(point: Point) -> float:
    settings: dict[str, Any] = {"eta0": 0.01, **point}
    x, y = some(200, load_breast_cancer)
    x = StandardScaler().fit_transform(x)[:, :10]
    return missed(SGDClassifier(**settings, max_iter=4, tol=None, random_state=3), (x, y))


def _neighbours_reduced(point: Point) -> float:
    size = int(point.get("components", 0))
    apart = distances(str(point["scaler"]), str(point["metric"]), size)
    return wrong_neighbours(apart, int(point["n_neighbors"]), str(point["weights"]))


def _below(name: str, branches: dict[str, tuple[Parameter, ...]]) -> CategoricalParameter:
    """A choice; what is below each value."""
    found = (Branch((value,), p) for value, below in branches.items() for p in below)
    return CategoricalParameter(name, tuple(branches), branches=tuple(found))


def _kernel(gamma: Parameter, *others: str) -> CategoricalParameter:
    return CategoricalParameter(
        "kernel",
        ("linear", "rbf", "poly", *others),
        branches=(
            Branch(("rbf", "poly", *others), gamma),
            Branch(("poly",), IntegerParameter("degree", 2, 4)),
        ),
    )


_LEAF = IntegerParameter("min_samples_leaf", 1, 12, LOG)
_DEPTH = IntegerParameter("max_depth", 1, 8)
_TREE = (_DEPTH, _LEAF, IntegerParameter("max_features", 1, 10))
_ALPHA, _GAMMA = powers("alpha", 1e-4, 1e3, 29), powers("gamma", 1e-4, 1.0, 17)
TABLES: dict[str, tuple[Measure, SearchSpace]] = {
    "vectors-wine": (
        _vectors_wine,
        SearchSpace(
            (powers("C", 1e-3, 1e3, 25), _kernel(powers("gamma", 1e-5, 1.0, 26), "sigmoid"))
        ),
    ),
    "vectors-diabetes": (
        _vectors_diabetes,
        SearchSpace(
            (
                powers("C", 1e-2, 1e3, 11),
                values("epsilon", 0.0, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0),
                _kernel(powers("gamma", 1e-5, 1.0, 11)),
            )
        ),
    ),
    "regressors-diabetes": (
        _regressors_diabetes,
        SearchSpace(
            (
                _below(
                    "model",
                    {
                        "ridge": (_ALPHA,),
                        "lasso": (_ALPHA,),
                        "kernel": (kinds("kernel", "rbf", "laplacian"), _ALPHA, _GAMMA),
                        "neighbours": (
                            IntegerParameter("n_neighbors", 1, 60, LOG),
                            kinds("weights", "uniform", "distance"),
                            values("p", 1.0, 1.5, 2.0),
                        ),
                        "vectors": (powers("C", 1e-2, 1e3, 21), _GAMMA),
                        "tree": _TREE,
                    },
                ),
            )
        ),
    ),
    "ensembles-diabetes": (
        _ensembles_diabetes,
        SearchSpace(
            (
                _below(
                    "model",
                    {
                        "forest": _TREE,
                        "extra": _TREE,
                        "boosting": (
                            IntegerParameter("n_estimators", 2, 7, LOG),
                            powers("learning_rate", 0.05, 1.0, 7),
                            values("subsample", 0.4, 0.7, 1.0),
                            IntegerParameter("max_depth", 1, 4),
                        ),
                        "tree": (*_TREE, kinds("splitter", "best", "random")),
                    },
                ),
            )
        ),
    ),
    "descent-cancer": (
        _descent_cancer,
        SearchSpace(
            (
                kinds("loss", "hinge", "log_loss", "modified_huber"),
                powers("alpha", 1e-6, 1e-1, 9),
                _below(
                    "penalty",
                    {
                        "l2": (),
                        "l1": (),
                        "elasticnet": (values("l1_ratio", 0.05, 0.2, 0.4, 0.6, 0.8),),
                    },
                ),
                _below(
                    "learning_rate",
                    {
                        "optimal": (),
                        "constant": (powers("eta0", 1e-4, 1.0, 9),),
                        "invscaling": (
                            powers("eta0", 1e-4, 1.0, 9),
                            values("power_t", 0.05, 0.15, 0.3, 0.5, 0.75),
                        ),
                    },
                ),
            )
        ),
    ),
    "neighbours-reduced": (
        _neighbours_reduced,
        SearchSpace(
            (
                kinds("scaler", *SCALERS),
                _below("reduce", {"none": (), "pca": (IntegerParameter("components", 2, 24),)}),
                IntegerParameter("n_neighbors", 1, 15, LOG),
                kinds("weights", "uniform", "distance"),
                kinds("metric", "euclidean", "cityblock", "chebyshev"),
            )
        ),
    ),
}


@cache
def problem(name: str, folder: Path) -> Problem:
    """Its table is made if the folder has none."""
    measure, space = TABLES[name]
    table = Table(folder / f"{name}.npz", measure, space)
    return Problem(SUITE, name, space, table, table.least)
