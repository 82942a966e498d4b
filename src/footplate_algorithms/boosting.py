"""Trains XGBoost on one machine; its data stays on disk but for XGBoost's own bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xgboost

from footplate_algorithms.algorithms import BOOSTING
from footplate_algorithms.errors import DataError
from footplate_algorithms.reporting import is_due

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from footplate_algorithms.datasets import Dataset
    from footplate_algorithms.parameters import Values
    from footplate_algorithms.reporting import Reporter

MODEL = "model.bst"
_OWN_NAMES = frozenset({"num_boost_round", "eval_metric", "objective"})
_OF_BOOSTER = {
    "gblinear": frozenset({"eta", "lambda", "alpha"}),
    "dart": frozenset({"sample_type", "normalize_type", "rate_drop", "one_drop", "skip_drop"}),
}
_GENERAL = frozenset({"booster", "num_class", "scale_pos_weight", "base_score", "seed"})


def needs_one_hot(values: Values) -> bool:
    """Returns whether each category needs a column, as the booster has no categories."""
    return values["booster"] == "gblinear" or values["tree_method"] == "exact"


def booster_parameters(values: Values) -> dict[str, Any]:
    """Returns the parameters for XGBoost.

    Each split separates one category from the rest, as it would with columns of zeros and ones.
    """
    objective = str(values["objective"])
    given = {
        p.name: values[p.name]
        for p in BOOSTING
        if p.effect and p.name in values and _applies(p.name, values)
    }
    return {
        **given,
        "objective": "reg:squarederror" if objective == "reg:linear" else objective,
        "eval_metric": metrics_of(values),
        **({} if needs_one_hot(values) else {"max_cat_to_onehot": 100_000}),
    }


def _applies(name: str, values: Values) -> bool:
    """Returns whether an argument applies to the booster and objective; XGBoost warns of others."""
    booster = str(values["booster"])
    if name in _OWN_NAMES:
        return False
    if name in _GENERAL:
        return True
    if name == "tweedie_variance_power":
        return values["objective"] == "reg:tweedie"
    if booster == "gblinear":
        return name in _OF_BOOSTER["gblinear"]
    if name in _OF_BOOSTER["dart"]:
        return booster == "dart"
    binned = {"max_bin", "grow_policy", "max_leaves"}
    return not (name in binned and values["tree_method"] == "exact")


def metrics_of(values: Values) -> list[str]:
    """Returns the names of the metrics for XGBoost; the last is the job's own."""
    objective = str(values["objective"])
    if objective.startswith("multi:"):
        names = ["merror", "mlogloss"]
    elif objective == "binary:logitraw":
        names = ["error@0", "auc"]
    elif objective.startswith("binary:"):
        names = ["error", "auc", "logloss"]
    else:
        names = ["mae", "rmse"]
    asked = values.get("eval_metric")
    return [*(name for name in names if name != asked), *([str(asked)] if asked else [])]


def named_scores(evaluated: Mapping[str, float]) -> dict[str, float]:
    """Returns XGBoost's metrics, also under the names that all algorithms share.

    For binary:logitraw there is no loss, because its predictions aren't probabilities.
    """
    if "rmse" in evaluated:
        return {**evaluated, "loss": evaluated["rmse"] ** 2}
    error = next(evaluated[name] for name in ("error", "merror", "error@0") if name in evaluated)
    loss = next((evaluated[name] for name in ("logloss", "mlogloss") if name in evaluated), None)
    losses = {} if loss is None else {"loss": loss}
    return {"accuracy": 1 - error, "error": error, **losses, **evaluated}


class _Pieces(xgboost.DataIter):  # type: ignore[misc]  # xgboost has no types here
    """Passes a dataset to XGBoost piece by piece."""

    def __init__(self, data: Dataset, types: list[str]) -> None:
        super().__init__()
        self._data = data
        self._types = types
        self._pieces: Iterator[tuple[Any, Any]] = iter(())

    def next(self, input_data: Any) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            return False
        input_data(data=piece[0], label=piece[1], feature_types=self._types)
        return True

    def reset(self) -> None:
        self._pieces = self._data.pieces()


def feature_types(metadata: Mapping[str, Any]) -> list[str]:
    if metadata["one_hot"]:
        sizes = (column.get("size", 1) for column in metadata["columns"])
        return ["q"] * sum(sizes)
    return ["c" if column["type"] == "category" else "q" for column in metadata["columns"]]


def as_matrix(data: Dataset, values: Values, types: list[str], reference: Any = None) -> Any:
    """Makes XGBoost's matrix; ``reference`` is the training data, whose bins the other data use."""
    if values["booster"] != "gblinear" and values["tree_method"] in ("auto", "hist"):
        return xgboost.QuantileDMatrix(
            _Pieces(data, types),
            max_bin=values["max_bin"],
            ref=reference,
            enable_categorical=True,
        )
    features, targets = np.asarray(data.features), np.asarray(data.targets)
    return xgboost.DMatrix(features, targets, feature_types=types, enable_categorical=True)


class _Progress(xgboost.callback.TrainingCallback):  # type: ignore[misc]  # has no types here
    def __init__(self, reporter: Reporter, rounds: int, name: str) -> None:
        self._reporter = reporter
        self._rounds = rounds
        self._name = name

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        del model
        if is_due(epoch + 1, self._rounds):
            found = {name: float(each[-1]) for name, each in evals_log[self._name].items()}
            self._reporter.report(named_scores(found), epoch + 1)
        return False


def train(
    values: Values,
    matrices: Mapping[str, Any],
    reporter: Reporter | None,
    device: str,
    checkpoints: Path | None = None,
) -> Any:
    """Trains a model. Raises DataError.

    ``matrices`` has the training data first, and last the data for the metrics.
    """
    rounds = values.integer("num_boost_round")
    (_, training), (name, evaluated) = next(iter(matrices.items())), list(matrices.items())[-1]
    callbacks: list[Any] = []
    if reporter is not None:
        callbacks.append(_Progress(reporter, rounds, name))
    if checkpoints is not None:
        checkpoints.mkdir(parents=True, exist_ok=True)
        period = values["model_saving_period"]
        callbacks.append(xgboost.callback.TrainingCheckPoint(str(checkpoints), interval=period))
    try:
        return xgboost.train(
            {**booster_parameters(values), "device": device, "verbosity": 1},
            training,
            num_boost_round=rounds,
            evals=[(evaluated, name)],
            verbose_eval=False,
            callbacks=callbacks,
        )
    except xgboost.core.XGBoostError as error:
        raise DataError(f"XGBoost: {_first_line(str(error))}") from error


def _first_line(message: str) -> str:
    """Returns the first line of an error, without its place in XGBoost's code."""
    line = message.strip().partition("\n")[0]
    return line.rpartition("Check failed: ")[2] or line


def evaluate(model: Any, matrix: Any) -> dict[str, float]:
    """Returns the same metrics as are reported during training."""
    found = {}
    for part in model.eval(matrix, "data").split("\t")[1:]:
        name, _, value = part.removeprefix("data-").rpartition(":")
        found[name] = float(value)
    return named_scores(found)


def save(model: Any, directory: Path) -> None:
    """Saves a model as UBJSON, under the name that Google's prediction service asks for."""
    made = directory / "model.ubj"
    model.save_model(made)
    made.rename(directory / MODEL)
