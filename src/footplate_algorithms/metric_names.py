"""The metrics that each algorithm reports, by the names that a tuning job asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate_algorithms.parameters import Values

CLASSIFICATION = ("accuracy", "error", "loss")
REGRESSION = ("rmse", "mae", "loss")
XGBOOST = (
    "rmse",
    "rmsle",
    "mae",
    "mape",
    "mphe",
    "logloss",
    "error",
    "merror",
    "mlogloss",
    "auc",
    "aucpr",
    "poisson-nloglik",
    "gamma-nloglik",
    "gamma-deviance",
    "tweedie-nloglik",
)
"""What ``eval_metric`` may be; ``error@T`` and ``tweedie-nloglik@RHO``, too."""
_WITH_NUMBER = ("error@", "tweedie-nloglik@")


def is_eval_metric(name: str) -> bool:
    """Returns whether XGBoost can compute a metric for what the algorithms train."""
    for prefix in _WITH_NUMBER:
        if name.startswith(prefix):
            return _is_number(name.removeprefix(prefix))
    return name in XGBOOST


def classifies(values: Values) -> bool:
    """Returns whether these arguments ask for a classifier."""
    objective = values.text("objective")
    return values.get("model_type") == "classification" or objective.startswith(
        ("binary:", "multi:")
    )


def reported(values: Values) -> tuple[str, ...]:
    """Returns the names of all metrics that a job with these arguments reports."""
    objective = values.text("objective")
    if not classifies(values):
        names: tuple[str, ...] = REGRESSION
    elif objective == "binary:logitraw":
        names = ("accuracy", "error", "auc")
    elif objective.startswith("multi:"):
        names = (*CLASSIFICATION, "merror", "mlogloss")
    elif objective:
        names = (*CLASSIFICATION, "auc", "logloss")
    else:
        names = CLASSIFICATION
    asked = values.get("eval_metric")
    return tuple(dict.fromkeys((*names, *([str(asked)] if asked else ()))))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
