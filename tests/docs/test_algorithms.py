"""The pages on built-in algorithms: their tables are what the service takes and reports."""

from __future__ import annotations

import re
from pathlib import Path

from footplate.wire.training_v1.rules.algorithms import NOT_SERVED
from footplate_algorithms.algorithms import ALGORITHMS
from footplate_algorithms.arguments import read_arguments
from footplate_algorithms.metric_names import reported
from tools.make_algorithms_reference import GROUPS, JOBS, PAGE, REFERENCE, rendered

HOW_TO = (Path(__file__).parents[2] / "docs/how-to/train-without-code.md").read_text("utf-8")


def test_the_list_of_arguments_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == rendered(), f"{PAGE} is stale: run `make reference`"


def test_each_algorithm_has_its_table() -> None:
    assert {name for _, names in GROUPS for name in names} == ALGORITHMS.keys()
    for _, names in GROUPS:
        assert len({ALGORITHMS[name].parameters for name in names}) == 1
    known = {each.name for algorithm in ALGORITHMS.values() for each in algorithm.parameters}
    assert known >= (REFERENCE | JOBS)


def test_the_how_to_names_all_that_is_refused() -> None:
    for name in NOT_SERVED:
        assert f"`{name}`" in HOW_TO


def test_the_arguments_of_its_example_are_taken() -> None:
    example = re.search(r"-- \\\n(.*?)\n```", HOW_TO, re.DOTALL)
    assert example is not None
    words = example[1].replace("\\\n", " ").split()
    read = read_arguments(ALGORITHMS["boosted_trees"], words)
    assert (read.problems, read.unknown) == ([], [])
    assert "accuracy" in reported(read.values)


def test_all_reported_metrics_are_in_its_table() -> None:
    jobs = (
        ("boosted_trees", ()),
        ("boosted_trees", ("--objective=binary:logistic",)),
        ("boosted_trees", ("--objective=multi:softmax", "--num_class=3")),
        ("linear_learner_cpu", ("--model_type=classification",)),
    )
    for algorithm, args in jobs:
        for name in reported(read_arguments(ALGORITHMS[algorithm], args).values):
            assert f"`{name}`" in HOW_TO
