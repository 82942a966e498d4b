"""Three families of learners in one space, each point measured once.

Their spaces have unequal dimensions. Half of the settings of the linear support vectors are ones
that scikit-learn refuses, so that these trials fail. Support vectors with a narrow kernel, or that
give up soon, answer with the most frequent class: a plateau.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from problems import Problem
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from tables import LOG, Table, kinds, missed, powers, some, values

from footplate.domain.studies.parameters import Branch, CategoricalParameter, IntegerParameter
from footplate.domain.studies.space import SearchSpace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tables import Data

    from footplate.domain.studies.parameters import Parameter
    from footplate.domain.studies.space import Point

SUITE = "conditional"
_COLUMNS = 12
DATA: dict[str, tuple[int, Callable[..., Any]]] = {
    "families-wine": (140, load_wine),
    "families-cancer": (160, load_breast_cancer),
    "families-digits": (160, load_digits),
}
BELOW: dict[str, tuple[Parameter, ...]] = {
    "linear": (
        powers("C", 1e-3, 1e2, 8),
        kinds("loss", "hinge", "squared_hinge"),
        kinds("penalty", "l1", "l2"),
        kinds("dual", "yes", "no"),
    ),
    "kernel": (powers("C", 1e-2, 1e3, 14), powers("gamma", 1e-4, 1e2, 16)),
    "trees": (
        IntegerParameter("max_depth", 1, 6),
        IntegerParameter("min_samples_leaf", 1, 12, LOG),
        IntegerParameter("max_features", 1, 6),
        kinds("criterion", "gini", "entropy"),
        values("ccp_alpha", 0.0, 0.02),
    ),
}
SPACE = SearchSpace(
    (
        CategoricalParameter(
            "family",
            tuple(BELOW),
            branches=tuple(Branch((name,), p) for name, below in BELOW.items() for p in below),
        ),
    )
)


def _measure(point: Point, data: Data) -> float:
    """NaN: scikit-learn refuses the settings."""
    settings: dict[str, Any] = dict(point)
    family = settings.pop("family")
    if family == "linear":
        settings["dual"] = settings["dual"] == "yes"
        learner = make_pipeline(StandardScaler(), LinearSVC(**settings, random_state=3))
    elif family == "kernel":
        learner = make_pipeline(StandardScaler(), SVC(**settings))
    else:
        learner = ExtraTreesClassifier(**settings, n_estimators=3, random_state=3)
    try:
        return missed(learner, data)
    except ValueError:
        return float("nan")


@cache
def problem(name: str, folder: Path) -> Problem:
    """Its table is made if the folder has none."""
    rows, load = DATA[name]
    x, y = some(rows, load)
    data = x[:, x.std(axis=0) > 0][:, :_COLUMNS], y
    table = Table(folder / f"{name}.npz", lambda point: _measure(point, data), SPACE)
    return Problem(SUITE, name, SPACE, table, table.least)
