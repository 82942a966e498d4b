"""Which measurement counts, and which trials are the best."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.metrics import Goal, Measurement, Metric, Selection, select
from footplate.domain.studies.ranking import best, by_rank, pareto_optimal
from footplate.domain.studies.trials import Trial, TrialState

LOSS = Metric("loss", Goal.MINIMIZE)
SPEED = Metric("speed", Goal.MAXIMIZE)


def made(number: int, loss: float | None, *, cost: float = 0.0, speed: float = 0.0) -> Trial:
    if loss is None:
        return Trial(number, {}, TrialState.INFEASIBLE, machine_s=cost)
    final = Measurement({"loss": loss, "speed": speed})
    return Trial(number, {}, TrialState.SUCCEEDED, (final,), final, cost)


def at(step: int, loss: float) -> Measurement:
    return Measurement({"loss": loss}, step, float(step))


def test_the_last_measurement_counts_or_the_best() -> None:
    curve = [at(30, 0.5), at(10, 0.7), at(20, 0.4), at(25, 0.4)]
    assert select(curve, [LOSS], Selection.LAST) == at(30, 0.5)
    assert select(curve, [LOSS], Selection.BEST) == at(20, 0.4)
    up = Metric("loss", Goal.MAXIMIZE)
    assert select(curve, [up], Selection.BEST) == at(10, 0.7)


def test_what_is_no_number_is_never_the_best_but_may_be_the_last() -> None:
    curve = [at(10, math.nan), at(20, 0.4), at(30, math.inf), at(40, math.nan)]
    assert select(curve, [LOSS], Selection.BEST) == at(20, 0.4)
    last = select(curve, [LOSS], Selection.LAST)
    assert last is not None
    assert last.step == 40
    assert Trial(1, {}, TrialState.SUCCEEDED, final=last).value(LOSS) is None


def test_only_measurements_of_all_metrics_count() -> None:
    both = Measurement({"loss": 1.0, "speed": 2.0}, 10)
    assert select([both, at(20, 0.1)], [LOSS, SPEED], Selection.LAST) == both
    assert select([at(20, 0.1)], [SPEED], Selection.LAST) is None
    assert select([], [LOSS], Selection.BEST) is None


def test_of_equal_trials_the_cheaper_is_the_best_and_it_says_so() -> None:
    found = best([made(1, 0.5, cost=200), made(2, 0.5, cost=80), made(3, 0.9)], LOSS)
    assert found is not None
    assert found.trial.number == 2
    said = "trial 1 is as good; this trial was the cheapest: 80 s of machine time against 200 s"
    assert found.tie == said


def test_of_trials_that_cost_the_same_the_earlier_is_the_best() -> None:
    found = best([made(3, 0.5), made(2, 0.5), made(1, 0.5), made(4, 0.9)], LOSS)
    assert found is not None
    assert found.trial.number == 1
    assert found.tie == "2 other trials are as good; this trial came first"


def test_without_a_value_there_is_no_best() -> None:
    assert best([], LOSS) is None
    assert best([made(1, None), made(2, math.nan), made(3, math.inf)], LOSS) is None


def test_trials_without_a_value_come_last_in_order() -> None:
    trials = [made(1, None), made(2, 0.3), made(3, math.nan), made(4, 0.1)]
    assert [t.number for t in by_rank(trials, LOSS)] == [4, 2, 1, 3]
    running = Trial(5, {}, TrialState.ACTIVE, final=at(1, 0.0))
    assert [t.number for t in by_rank([running, *trials], LOSS)] == [4, 2, 1, 3, 5]


@pytest.mark.parametrize("metrics", [(LOSS,), (LOSS, SPEED)])
@given(pairs=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12))
def test_optimal_trials_are_those_that_no_other_beats(
    metrics: tuple[Metric, ...], pairs: list[tuple[int, int]]
) -> None:
    trials = [made(i, loss, speed=speed) for i, (loss, speed) in enumerate(pairs)]
    optimal = pareto_optimal([*trials, made(99, None)], metrics)
    for trial in trials:
        beaten = any(_beats(other, trial, metrics) for other in trials)
        assert (trial in optimal) is not beaten


def _beats(one: Trial, other: Trial, metrics: tuple[Metric, ...]) -> bool:
    pairs = [(one.value(m) or 0.0, other.value(m) or 0.0, m) for m in metrics]
    worse = any(m.is_better(b, a) for a, b, m in pairs)
    return not worse and any(m.is_better(a, b) for a, b, m in pairs)


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ((0.101, 0.126), "0.10 s of machine time against 0.13 s"),
        ((61.2, 60.9), "60.9 s of machine time against 61.2 s"),
        ((1.0, 1.0001), "the difference is less than a thousandth of a second of machine time"),
    ],
)
def test_what_was_saved_is_told_with_as_many_digits_as_it_takes(
    costs: tuple[float, float], said: str
) -> None:
    found = best([made(1, 0.5, cost=costs[0]), made(2, 0.5, cost=costs[1])], LOSS)
    assert found is not None
    assert found.tie.endswith(f"this trial was the cheapest: {said}")
