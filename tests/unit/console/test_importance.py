"""How much of the objective each parameter explains."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING

from footplate.console.search_view import MIN_TRIALS, importances

if TYPE_CHECKING:
    from pydantic import JsonValue

    Trials = list[tuple[dict[str, JsonValue], float]]

SAMPLED: Trials = [
    ({"rate": rate / 10, "kind": kind, "same": 1}, abs(rate - 7) + 0.1 * (kind == "sgd"))
    for rate, kind in product(range(12), ("adam", "sgd"))
]


def test_the_parameter_that_decides_comes_first() -> None:
    rate, kind = importances(["kind", "rate", "same"], SAMPLED, minimize=True)
    assert (rate.parameter, kind.parameter) == ("rate", "kind")
    assert rate.share > 0.6
    assert kind.share < 0.1
    assert rate.best == "0.6 to 0.8"
    assert kind.best == "adam"


def test_the_goal_decides_which_values_are_best() -> None:
    rate, _ = importances(["kind", "rate"], SAMPLED, minimize=False)
    assert rate.best == "0 to 0.2"


def test_a_trial_that_diverged_counts_as_one() -> None:
    """Ranks: one huge loss doesn't make all others alike; none that isn't a number is used."""
    bad: Trials = [({"rate": 0.5, "kind": "sgd", "same": 1}, 1e30), ({"rate": 0.1}, math.nan)]
    rate, _ = importances(["kind", "rate"], [*SAMPLED, *bad], minimize=True)
    assert rate.share > 0.4


def test_few_trials_say_nothing() -> None:
    assert importances(["rate"], SAMPLED[: MIN_TRIALS - 1], minimize=True) == []
    constant: Trials = [({"rate": 0.1}, float(n)) for n in range(20)]
    assert importances(["rate", "missing"], constant, minimize=True) == []


def test_equal_results_have_no_cause() -> None:
    equal: Trials = [({"rate": n / 10}, 1.0) for n in range(20)]
    assert [each.share for each in importances(["rate"], equal, minimize=True)] == [0.0]
