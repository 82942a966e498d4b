"""Built-in algorithms in the runtimes that jobs get: as good as their libraries called by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from footplate.domain.runtimes import Runtimes
from footplate.server.wheels import algorithms_wheel
from tests.e2e.runtimes.conftest import open_bench
from tests.e2e.runtimes.test_runtimes import prepare
from tests.support.algorithm_data import write_census, write_numbers, write_prices
from tests.support.environments import Outcome

PROGRAM = """
import resource, runpy, sys
sys.argv[1:] = {args!r}
try:
    runpy.run_module("footplate_algorithms", run_name="__main__")
except SystemExit as end:
    assert end.code == 0, end
print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""
TREES_BY_HAND = """
import pandas, xgboost
def read(name):
    table = pandas.read_csv({processed!r} + "/" + name + ".csv", header=None)
    return pandas.get_dummies(table.drop(columns=0), dtype=float), table[0] == ">50K"
(x, y), (other, right) = read("training"), read("test")
model = xgboost.train(
    {{"objective": "binary:logistic", "base_score": 0.5}}, xgboost.DMatrix(x, y), 20
)
print(((model.predict(xgboost.DMatrix(other)) > 0.5) == right).mean())
"""
TREES_READ_BACK = """
import csv, sys
sys.path.insert(0, {out!r} + "/artifacts")
rows = list(csv.reader(open({out!r} + "/processed_data/test.csv")))
table, right = [row[1:] for row in rows], [row[0] == ">50K" for row in rows]

import xgboost; from instance_generator import Encoder
model = xgboost.Booster(model_file={out!r} + "/model/model.bst")
rows = xgboost.DMatrix(Encoder.load().encode(table), feature_types=model.feature_types)
predicted = model.predict(rows)

print(((predicted > 0.5) == right).mean())
"""
LINEAR_BY_HAND = """
import pandas
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.pipeline import make_pipeline
def read(name):
    table = pandas.read_csv({processed!r} + "/" + name + ".csv", header=None)
    return pandas.get_dummies(table.drop(columns=0), dtype=float), table[0]
(x, y), (other, right) = read("training"), read("test")
kind = LogisticRegression(max_iter=1000) if {classify} else LinearRegression()
model = make_pipeline(StandardScaler(), kind).fit(x.to_numpy(), y)
predicted = model.predict(other.to_numpy())
print((predicted == right).mean() if {classify} else ((predicted - right) ** 2).mean() ** 0.5)
"""
LEARNER_READ_BACK = """
import csv, sys
sys.path.insert(0, {out!r} + "/artifacts")
rows = list(csv.reader(open({out!r} + "/processed_data/test.csv")))
table, right = [row[1:] for row in rows], [row[0] for row in rows]

import torch; from instance_generator import Encoder
encoder, model = Encoder.load(), torch.export.load({out!r} + "/model/model.pt2").module()
predicted = model(torch.from_numpy(encoder.encode(table))).detach()

print(sum(a == b for a, b in zip(encoder.decode_target(predicted.argmax(1)), right)) / len(right))
"""
WEIGHTS = """
import torch
weights = torch.export.load({out!r} + "/model/model.pt2").state_dict
print((weights["wide.numbers.weight"].abs() > 1e-9).any(dim=0).tolist())
"""


class Trained:
    """What runs of algorithms left; ``out`` is the directory of the last one."""

    def __init__(self, outcome: Outcome, folder: Path) -> None:
        self.outcome = outcome
        self.folder = folder
        self.out = folder
        self._runs = 0

    def train(self, algorithm: str, data: Path, *args: str, **variables: str) -> dict[str, Any]:
        """The metrics; ``peak_mb`` is the program's memory."""
        self._runs += 1
        self.out = self.folder / f"out-{self._runs}"
        words = [algorithm, "--job-dir", str(self.out), f"--training_data_path={data}", *args]
        said = self.outcome.run(PROGRAM.format(args=words), PYTHONWARNINGS="ignore", **variables)
        metrics: dict[str, Any] = json.loads((self.out / "artifacts/metrics.json").read_text())
        return {**metrics, "peak_mb": int(said.rpartition("peak ")[2])}

    def run(self, code: str, **values: object) -> str:
        text = code.format(out=str(self.out), processed=f"{self.out}/processed_data", **values)
        return self.outcome.run(text, PYTHONWARNINGS="ignore")


def _prepare(runtimes: Runtimes, algorithm: str, folder: Path) -> Outcome:
    wheel = algorithms_wheel()
    path = folder / wheel.name
    path.write_bytes(wheel.open().read())
    runtime = runtimes.resolve(f"algorithm:{algorithm}", "f")
    with open_bench(folder, runtimes) as bench:
        return prepare(bench, runtime, path, module="footplate_algorithms")


@pytest.fixture(scope="module")
def trees_environment(runtimes: Runtimes, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return _prepare(runtimes, "boosted_trees", tmp_path_factory.mktemp("trees"))


@pytest.fixture(scope="module")
def learners_environment(runtimes: Runtimes, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return _prepare(runtimes, "linear_learner_cpu", tmp_path_factory.mktemp("learners"))


@pytest.fixture
def trees(trees_environment: Outcome, tmp_path: Path) -> Trained:
    return Trained(trees_environment, tmp_path)


@pytest.fixture
def learners(learners_environment: Outcome, tmp_path: Path) -> Trained:
    return Trained(learners_environment, tmp_path)


@pytest.fixture
def census(tmp_path: Path) -> Path:
    return write_census(tmp_path / "census.csv", 6000)


def test_trees_are_as_good_as_by_hand_and_read_back(trees: Trained, census: Path) -> None:
    args = ("--preprocess", "--objective=binary:logistic", "--num_boost_round=20")
    found = trees.train("boosted_trees", census, *args)

    accuracy = found["test"]["accuracy"]
    assert accuracy > 0.85
    assert accuracy == pytest.approx(float(trees.run(TREES_BY_HAND)), abs=0.01)
    assert accuracy == pytest.approx(float(trees.run(TREES_READ_BACK)), abs=1e-6)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("args", "least"),
    [
        (("--tree_method=exact",), 0.84),
        (("--tree_method=approx", "--max_bin=64"), 0.84),
        # XGBoost's linear booster doesn't scale columns, and learns slowly here
        (("--booster=gblinear", "--num_boost_round=500", "--eta=1"), 0.72),
        (("--booster=dart", "--rate_drop=0.1"), 0.84),
        (("--grow_policy=lossguide", "--max_leaves=16", "--subsample=0.8"), 0.84),
        (("--sketch_eps=0.1", "--updater=grow_histmaker"), 0.84),
    ],
)
def test_each_booster(trees: Trained, census: Path, args: tuple[str, ...], least: float) -> None:
    objective = ("--preprocess", "--objective=binary:logistic")
    found = trees.train("boosted_trees", census, *objective, *args)
    assert found["test"]["accuracy"] > least


@pytest.mark.soak
@pytest.mark.parametrize(
    ("args", "metric", "most"),
    [
        ((), "rmse", 450),
        (("--objective=reg:gamma",), "gamma-nloglik", 12),
        (("--objective=reg:tweedie", "--tweedie_variance_power=1.2"), "rmse", 600),
        (("--eval_metric=mape", "--num_boost_round=30"), "mape", 0.2),
    ],
)
def test_each_regression(
    trees: Trained, tmp_path: Path, args: tuple[str, ...], metric: str, most: float
) -> None:
    prices = write_prices(tmp_path / "prices.csv", 3000)
    if metric == "gamma-nloglik":
        args = (*args, f"--eval_metric={metric}")
    rounds = () if "--num_boost_round=30" in args else ("--num_boost_round=40",)
    found = trees.train("boosted_trees", prices, "--preprocess", *args, *rounds)
    assert 0 < found["test"][metric] < most


@pytest.mark.soak
def test_several_classes_and_raw_scores(trees: Trained, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    numbers = random.normal(size=(3000, 2))
    kinds = np.where(numbers[:, 0] > 0.5, "b", np.where(numbers[:, 1] > 0, "c", "a"))
    data = tmp_path / "kinds.csv"
    with data.open("w", newline="") as file:
        csv.writer(file).writerows(zip(kinds, *numbers.T, strict=True))
    multi = ("--preprocess", "--objective=multi:softprob", "--num_class=3")
    assert trees.train("boosted_trees", data, *multi)["test"]["accuracy"] > 0.97

    plain = write_numbers(tmp_path / "plain.csv", 3000)
    validation = f"--validation_data_path={write_numbers(tmp_path / 'v.csv', 500, seed=1)}"
    raw = trees.train("boosted_trees", plain, "--objective=binary:logitraw", validation)
    assert raw["validation"]["accuracy"] > 0.85
    assert "loss" not in raw["validation"]


def test_a_trial_reports_its_metrics(trees: Trained, census: Path, tmp_path: Path) -> None:
    file = tmp_path / "metrics"
    variables = {"CLOUD_ML_TRIAL_ID": "1", "CLOUD_ML_HP_METRIC_FILE": str(file)}
    args = ("--preprocess", "--objective=binary:logistic")
    found = trees.train("boosted_trees", census, *args, **variables)

    reports = [json.loads(line) for line in file.read_text().splitlines()]
    last = {name: value for each in reports for name, value in each.items()}
    assert float(last["accuracy"]) == pytest.approx(found["validation"]["accuracy"])
    assert float(last["auc"]) == pytest.approx(found["validation"]["auc"])
    assert {int(each["global_step"]) for each in reports} == set(range(1, 11))


@pytest.mark.parametrize(
    ("optimizer", "rate"),
    [
        ("adam", "0.02"),
        pytest.param("ftrl", "0.5", marks=pytest.mark.soak),
        pytest.param("sgd", "0.5", marks=pytest.mark.soak),
    ],
)
def test_a_linear_classifier_is_as_good_as_by_hand(
    learners: Trained, census: Path, optimizer: str, rate: str
) -> None:
    args = ("--preprocess", "--model_type=classification", "--max_steps=2000")
    choice = (f"--optimizer_type={optimizer}", f"--learning_rate={rate}")
    found = learners.train("linear_learner_cpu", census, *args, *choice)
    by_hand = float(learners.run(LINEAR_BY_HAND, classify=True))
    assert by_hand > 0.85
    assert found["test"]["accuracy"] == pytest.approx(by_hand, abs=0.015)
    read_back = float(learners.run(LEARNER_READ_BACK))
    assert read_back == pytest.approx(found["test"]["accuracy"], abs=1e-6)


@pytest.mark.soak
def test_a_linear_regression_is_as_good_as_by_hand(learners: Trained, tmp_path: Path) -> None:
    prices = write_prices(tmp_path / "prices.csv", 4000)
    args = ("--preprocess", "--model_type=regression", "--learning_rate=0.02")
    found = learners.train("linear_learner_cpu", prices, *args, "--max_steps=2000")
    by_hand = float(learners.run(LINEAR_BY_HAND, classify=False))
    assert by_hand < 350
    assert found["test"]["rmse"] == pytest.approx(by_hand, rel=0.05)


@pytest.mark.soak
def test_l1_leaves_weights_of_columns_that_decide(learners: Trained, tmp_path: Path) -> None:
    """Of the four columns the first two decide the class."""
    data = write_numbers(tmp_path / "x.csv", 4000)
    args = ("--preprocess", "--model_type=classification", "--optimizer_type=ftrl")
    strength = ("--learning_rate=0.5", "--l1_regularization_strength=20")
    learners.train("linear_learner_cpu", data, *args, *strength)
    assert learners.run(WEIGHTS) == "[True, True, False, False]"


@pytest.mark.soak
@pytest.mark.parametrize(
    "args", [("--use_wide",), ("--use_wide", "--embed_categories", "--dnn_dropout=0.1"), ()]
)
def test_a_deep_model_learns_what_a_linear_one_can_not(
    learners: Trained, tmp_path: Path, args: tuple[str, ...]
) -> None:
    """The class is whether the signs of two numbers differ, turned about by a category."""
    random = np.random.default_rng(0)
    numbers, kind = random.normal(size=(6000, 2)), random.integers(0, 2, 6000)
    right = (numbers[:, 0] * numbers[:, 1] > 0) ^ (kind == 1)
    data = tmp_path / "x.csv"
    with data.open("w", newline="") as file:
        rows = zip(right.astype(int), *numbers.T, np.array(["p", "q"])[kind], strict=True)
        csv.writer(file).writerows(rows)
    common = ("--preprocess", "--model_type=classification", "--batch_size=200")
    linear = learners.train("linear_learner_cpu", data, *common)
    deep = learners.train(
        "wide_deep_learner_cpu",
        data,
        *common,
        "--hidden_units=64,32",
        "--dnn_learning_rate=0.01",
        "--max_steps=1500",
        *args,
    )
    assert linear["test"]["accuracy"] < 0.6
    assert deep["test"]["accuracy"] > 0.93
    assert float(learners.run(LEARNER_READ_BACK)) == pytest.approx(
        deep["test"]["accuracy"], abs=1e-6
    )


def test_a_loss_that_grows_without_bound_is_said(learners: Trained, tmp_path: Path) -> None:
    data = tmp_path / "x.csv"
    data.write_text("".join(f"{i},{i * 1e6}\n" for i in range(1000)))
    args = ("--model_type=regression", "--optimizer_type=sgd", "--learning_rate=0.5")
    with pytest.raises(AssertionError, match="take a smaller --learning_rate, or --preprocess"):
        learners.train("linear_learner_cpu", data, *args)


@pytest.mark.soak
def test_a_million_rows_in_bounded_memory(trees: Trained, tmp_path: Path) -> None:
    """As texts they would be 300 MB and more; all that grows is a few bytes for each row."""
    args = ("--preprocess", "--objective=binary:logistic", "--num_boost_round=3")
    few = trees.train("boosted_trees", write_numbers(tmp_path / "few.csv", 10_000), *args)
    large = write_numbers(tmp_path / "many.csv", 1_000_000)
    many = trees.train("boosted_trees", large, *args)
    large.unlink()

    assert many["test"]["accuracy"] > 0.85
    assert many["peak_mb"] - few["peak_mb"] < 150, (few, many)
