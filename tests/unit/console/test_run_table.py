"""Which runs of an experiment are shown, and in which order."""

from __future__ import annotations

import pytest

from footplate.console.experiments_view import Run, choose, columns, order
from footplate.domain.errors import InvalidArgument

RUNS = (
    Run("a", "alpha", "COMPLETE", params={"rate": 0.1, "opt": "adam"}, metrics={"loss": 10}),
    Run("b", "beta", "FAILED", params={"rate": 0.01}, metrics={"loss": 9.5}),
    Run("c", "gamma", params={"rate": "NaN", "opt": "sgd"}),
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "abc"),
        ("ALPH", "a"),
        ("loss < 10", "b"),
        ("loss >= 9.5 AND rate<=0.05", "b"),
        ("opt = adam", "a"),
        ("opt='adam'", "a"),
        ("opt != adam", "bc"),
        ("state=FAILED", "b"),
        ("rate > 0", "ab"),
        ("nothing = 1", ""),
        ("<script>", ""),
    ],
)
def test_runs_are_chosen(text: str, names: str) -> None:
    assert "".join(run.name for run in choose(RUNS, text)) == names


def test_only_numbers_have_an_order() -> None:
    with pytest.raises(InvalidArgument, match="allowed: = and !="):
        choose(RUNS, "opt < b")


def test_conditions_have_a_bound() -> None:
    assert choose(RUNS, " " * 2000) == [*RUNS]
    with pytest.raises(InvalidArgument, match="at most 2000"):
        choose(RUNS, " " * 2001)


@pytest.mark.parametrize(
    ("by", "names"),
    [("loss", "bac"), ("-loss", "abc"), ("rate", "bac"), ("opt", "acb"), ("x", "abc")],
)
def test_runs_are_sorted_and_those_without_a_value_are_last(by: str, names: str) -> None:
    assert "".join(run.name for run in order(RUNS, by)) == names


def test_each_column_comes_once() -> None:
    assert columns(run.params for run in RUNS) == ["rate", "opt"]
