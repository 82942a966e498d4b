"""The arguments of built-in algorithms: what is read, and what is refused with the way out."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate_algorithms.algorithms import ALGORITHMS
from footplate_algorithms.arguments import read_arguments, splits
from footplate_algorithms.metric_names import reported
from footplate_algorithms.parameters import Parameter

TREES = ALGORITHMS["boosted_trees"]
WIDE = ALGORITHMS["wide_deep_learner_cpu"]
DATA = "--training_data_path=gs://b/x.csv"


def refused(*args: str, algorithm: str = "boosted_trees") -> dict[int | None, str]:
    problems = read_arguments(ALGORITHMS[algorithm], args).problems
    return {problem.index: problem.message for problem in problems}


def test_both_ways_to_write_a_value() -> None:
    read = read_arguments(TREES, ("--preprocess", "--eta", "0.1", "--max_depth=4", DATA))

    assert read.problems == []
    assert read.given == {
        "preprocess": True,
        "eta": 0.1,
        "max_depth": 4,
        "training_data_path": "gs://b/x.csv",
    }
    assert read.values["num_boost_round"] == 10
    assert read.places["training_data_path"] == 4


def test_a_flag_may_have_a_value_and_a_later_value_wins() -> None:
    args = (DATA, "--model_type=regression", "--use_wide=true", "--embed_categories", "false")
    read = read_arguments(WIDE, (*args, "--max_steps=10", "--max_steps=20"))

    assert read.problems == []
    assert read.values.flag("use_wide")
    assert not read.values.flag("embed_categories")
    assert read.values.integer("max_steps") == 20


def test_what_a_tuning_job_writes_for_whole_numbers() -> None:
    read = read_arguments(WIDE, (DATA, "--model_type=regression", "--max_steps=300.0"))

    assert read.values.integer("max_steps") == 300


@pytest.mark.parametrize(
    ("args", "index", "message"),
    [
        (("--eta=2", DATA), 0, "--eta: '2' given; allowed: a number in [0, 1]"),
        (("--eta=nan", DATA), 0, "--eta: 'nan' given; allowed: a number in [0, 1]"),
        (("--subsample=0", DATA), 0, "--subsample: '0' given; allowed: a number in (0, 1]"),
        (("--max_depth=2.5", DATA), 0, "--max_depth: '2.5' given; allowed: a whole number at le"),
        (("--max_depth=9e999", DATA), 0, "--max_depth: '9e999' given; allowed: a whole number"),
        (("--booster=forest", DATA), 0, "--booster: 'forest' given; allowed: one of gbtree, "),
        (("--preprocess=maybe", DATA), 0, "--preprocess: 'maybe' given; allowed: true or false"),
        (("--eta", "--preprocess", DATA), 0, "--eta given without a value; allowed: a number"),
        ((DATA, "stray"), 1, "'stray' given; allowed: --NAME=VALUE"),
        ((), None, "required by boosted_trees: --training_data_path"),
        ((DATA, "--objective=multi:softmax"), 1, "--objective=multi:softmax needs --num_class"),
        ((DATA, "--num_class=3"), 1, "--num_class given with --objective=reg:linear; allowed"),
        ((DATA, "--eval_metric=f1"), 1, "--eval_metric: 'f1' given; allowed: one of rmse"),
        ((DATA, "--test_split=0.1"), 1, "--test_split given without --preprocess, which does"),
        (
            (DATA, "--preprocess", "--validation_split=0.3"),
            2,
            "--validation_split and --test_split are 0.5 together; allowed: at most 0.4",
        ),
        (
            (DATA, "--preprocess", "--test_data_path=gs://b/t", "--test_split=0.1"),
            3,
            "--test_split given beside --test_data_path; allowed: one of them",
        ),
    ],
)
def test_what_is_refused(args: tuple[str, ...], index: int | None, message: str) -> None:
    found = refused(*args)

    assert list(found) == [index]
    assert found[index].startswith(message)


def test_units() -> None:
    given = (DATA, "--model_type=regression")
    read = read_arguments(WIDE, (*given, "--hidden_units=64,32"))
    assert read.values.units("hidden_units") == (64, 32)
    for text in ("64,", "0", "a", "-1", "64;32"):
        found = refused(*given, f"--hidden_units={text}", algorithm="wide_deep_learner_cpu")
        assert "whole numbers from 1 with commas between them" in found[2]


def test_what_the_algorithm_does_not_have() -> None:
    read = read_arguments(TREES, (DATA, "--max_dept", "3", "--learning_rate=1"))

    assert read.unknown == [(1, "max_dept"), (3, "learning_rate")]
    assert read_arguments(ALGORITHMS["xgboost_dist"], (DATA, "--preprocess")).unknown


def test_a_tuned_argument_is_not_missing() -> None:
    tuned = ["num_class"]
    assert read_arguments(TREES, (DATA, "--objective=multi:softmax"), tuned).problems == []


def test_a_file_of_its_own_takes_the_place_of_a_split() -> None:
    args = (DATA, "--preprocess", "--validation_data_path=gs://b/v.csv")
    assert splits(read_arguments(TREES, args).values) == (0, 0.2)
    assert splits(read_arguments(TREES, (DATA,)).values) == (0, 0)


@pytest.mark.parametrize(
    ("algorithm", "args", "names"),
    [
        ("boosted_trees", (), ("rmse", "mae", "loss")),
        ("boosted_trees", ("--eval_metric=mape",), ("rmse", "mae", "loss", "mape")),
        (
            "boosted_trees",
            ("--objective=binary:logistic",),
            ("accuracy", "error", "loss", "auc", "logloss"),
        ),
        ("boosted_trees", ("--objective=binary:logitraw",), ("accuracy", "error", "auc")),
        (
            "xgboost_dist",
            ("--objective=multi:softmax", "--num_class=3"),
            ("accuracy", "error", "loss", "merror", "mlogloss"),
        ),
        ("linear_learner_cpu", ("--model_type=classification",), ("accuracy", "error", "loss")),
        ("linear_learner_gpu", ("--model_type=regression",), ("rmse", "mae", "loss")),
    ],
)
def test_the_metrics_of_a_job(
    algorithm: str, args: tuple[str, ...], names: tuple[str, ...]
) -> None:
    assert reported(read_arguments(ALGORITHMS[algorithm], args).values) == names


def test_defaults_are_values_that_are_allowed() -> None:
    for algorithm in ALGORITHMS.values():
        for parameter in algorithm.parameters:
            if isinstance(parameter.default, tuple):
                assert parameter.read(",".join(map(str, parameter.default))) == parameter.default
            elif parameter.default is not None:
                assert parameter.read(str(parameter.default)) == parameter.default


@given(st.sampled_from(sorted(ALGORITHMS)), st.lists(st.text(max_size=30), max_size=6))
def test_no_arguments_break_the_reader(algorithm: str, args: list[str]) -> None:
    read_arguments(ALGORITHMS[algorithm], args)


@given(
    st.sampled_from([p for a in ALGORITHMS.values() for p in a.parameters]),
    st.text(max_size=20) | st.floats().map(repr),
)
def test_no_value_breaks_a_parameter(parameter: Parameter, text: str) -> None:

    with contextlib.suppress(ValueError):
        assert parameter.read(text) is not None
