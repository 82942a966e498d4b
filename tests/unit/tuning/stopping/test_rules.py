"""Stopping rules, on drawn curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import (
    ConvexSpec,
    DecayCurveSpec,
    HalvingSpec,
    MedianSpec,
    StoppingSpec,
)
from footplate.domain.studies.study import StudyConfig
from footplate.domain.studies.trials import Trial, TrialState
from footplate.tuning.stopping.convex import ConvexRule
from footplate.tuning.stopping.rule import StoppingRule, stopping_rule
from tests.unit.tuning.spaces import BRIEF

LOSS, GAIN = Metric("m", Goal.MINIMIZE), Metric("m", Goal.MAXIMIZE)
SPACE = SearchSpace((DoubleParameter("lr", 1e-5, 1.0),))
SPECS: list[StoppingSpec] = [
    HalvingSpec(),
    MedianSpec(),
    DecayCurveSpec(),
    ConvexSpec(max_step=100),
]


def rule(spec: StoppingSpec, metric: Metric = LOSS) -> StoppingRule:
    found = stopping_rule(StudyConfig(SPACE, (metric,), stopping=spec))
    assert found is not None
    return found


def trial(
    number: int, values: Sequence[float], *, step: int = 10, lr: float = 0.1, done: bool = True
) -> Trial:
    found = tuple(
        Measurement({"m": value}, step * (i + 1), 2.0 * step * (i + 1))
        for i, value in enumerate(values)
    )
    state = TrialState.SUCCEEDED if done else TrialState.ACTIVE
    return Trial(number, {"lr": lr}, state, found, found[-1] if done and found else None)


def decay(level: float, count: int = 10, power: float = 1.0) -> list[float]:
    return [level + (i + 1) ** -power for i in range(count)]


def curves(levels: Sequence[float], make: Callable[[float], list[float]] = decay) -> list[Trial]:
    return [trial(i + 1, make(level)) for i, level in enumerate(levels)]


@pytest.mark.parametrize("spec", SPECS)
def test_a_much_worse_trial_stops_and_a_better_one_goes_on(spec: StoppingSpec) -> None:
    others = curves([0.2, 0.25, 0.3, 0.35, 0.4, 0.45])
    bad, good = (trial(9, decay(level, 6), done=False) for level in (5.0, 0.1))
    assert rule(spec).reason_to_stop(bad, others)
    assert not rule(spec).reason_to_stop(good, others)


@pytest.mark.parametrize("spec", SPECS)
def test_the_goal_may_be_the_highest(spec: StoppingSpec) -> None:
    others = curves([0.2, 0.25, 0.3, 0.35, 0.4, 0.45], lambda v: [-x for x in decay(v)])
    bad, good = (trial(9, [-x for x in decay(v, 6)], done=False) for v in (5.0, 0.1))
    assert rule(spec, GAIN).reason_to_stop(bad, others)
    assert not rule(spec, GAIN).reason_to_stop(good, others)


@pytest.mark.parametrize("spec", SPECS)
@BRIEF
@given(
    st.lists(st.lists(st.floats(), max_size=12), max_size=9),
    st.lists(st.floats(), max_size=12),
    st.booleans(),
)
def test_no_values_break_a_rule(
    spec: StoppingSpec,
    others: list[list[float]],
    own: list[float],
    elapsed: bool,  # noqa: FBT001 - drawn
) -> None:
    found = [trial(i + 1, values, done=i % 3 > 0) for i, values in enumerate(others)]
    asked = replace(spec, use_elapsed=elapsed)
    reason = rule(asked).reason_to_stop(trial(99, own, done=False), found)
    assert isinstance(reason, str)
    if not own or not others:
        assert not reason


@pytest.mark.parametrize("spec", SPECS)
@BRIEF
@given(st.integers(0, 10_000))
def test_what_is_the_best_so_far_goes_on(spec: StoppingSpec, seed: int) -> None:
    rng = np.random.default_rng(seed)
    others = curves(list(rng.uniform(0.2, 1.0, 12)))
    leader = trial(99, decay(0.1, int(rng.integers(1, 11))), done=False)
    assert not rule(spec).reason_to_stop(leader, others)


@pytest.mark.parametrize("spec", SPECS)
def test_the_first_trials_are_left_alone(spec: StoppingSpec) -> None:
    running = [trial(i, decay(float(i), 9), done=False) for i in range(1, 9)]
    spec = replace(spec, max_step=None) if isinstance(spec, ConvexSpec) else spec
    for one in running:
        assert not rule(spec).reason_to_stop(one, [t for t in running if t is not one])


@pytest.mark.parametrize("spec", SPECS)
def test_order_does_not_matter(spec: StoppingSpec) -> None:
    others = curves([0.2, 0.25, 0.3, 0.35, 0.4, 0.45])
    bad = trial(9, decay(5.0, 6), done=False)
    one, other = (rule(spec).reason_to_stop(bad, order) for order in (others, others[::-1]))
    assert one == other


def test_halving_says_where_and_against_whom() -> None:
    others = [trial(i + 1, [1.0, 0.9, 0.5 + i / 10] + [0.4 + i / 10] * 7) for i in range(8)]
    slow = trial(9, [1.0, 0.9, 0.84], done=False)
    reason = rule(HalvingSpec()).reason_to_stop(slow, others)
    assert reason == "at step 30: 0.84, above 0.7, the top third of 9 trials"


def test_halving_gives_a_grace_of_a_tenth() -> None:
    others = curves([0.2] * 8, lambda level: decay(level, 40))
    assert not rule(HalvingSpec()).reason_to_stop(trial(9, [9.0] * 3, done=False), others)
    assert rule(HalvingSpec()).reason_to_stop(trial(9, [9.0] * 4, done=False), others)


def test_halving_leaves_a_third_of_those_that_come_so_far() -> None:
    """Ends that are all the same tell nothing, so places count alone."""
    running = [trial(6 + i, decay(level, 5), done=False) for i, level in enumerate((0.1, 0.2, 0.3))]
    others = [*curves([0.5] * 5), *running]
    stopped = [
        bool(rule(HalvingSpec()).reason_to_stop(trial(9, decay(level, 5), done=False), others))
        for level in (0.05, 0.25, 0.35, 0.85)
    ]
    assert stopped == [False, False, True, True]


def test_halving_stops_what_is_hopeless_even_among_the_top_third() -> None:
    others = curves([i / 10 for i in range(1, 9)])
    second = trial(9, decay(0.25, 8), done=False)
    reason = rule(HalvingSpec()).reason_to_stop(second, others)
    said = "expected to end between 0.3452 and 0.3531, and the best of 8 finished trials has 0.2"
    assert reason == f"at step 80: 0.375, {said}"


def test_halving_says_what_is_hopeless_in_the_metrics_own_direction() -> None:
    others = curves([i / 10 for i in range(1, 9)], lambda v: [-x for x in decay(v)])
    second = trial(9, [-x for x in decay(0.25, 8)], done=False)
    reason = rule(HalvingSpec(), GAIN).reason_to_stop(second, others)
    said = "expected to end between -0.3531 and -0.3452, and the best of 8 finished trials has -0.2"
    assert reason == f"at step 80: -0.375, {said}"


def test_halving_stops_nothing_where_curves_cross() -> None:
    """What ends best begins slowest: early places say the opposite."""
    others = [trial(i + 1, [2.0 - i / 10] * 5 + [0.2 + i / 10] * 5) for i in range(8)]
    early = trial(9, [2.0] * 5, done=False)
    late = trial(9, [2.0] * 5 + [0.9] * 4, done=False)
    assert not rule(HalvingSpec()).reason_to_stop(early, others)
    assert rule(HalvingSpec()).reason_to_stop(late, others)


def test_halving_hardly_stops_where_early_results_say_nothing() -> None:
    rng = np.random.default_rng(0)
    stopped = 0
    for _ in range(50):
        drawn = rng.uniform(1.0, 2.0, (9, 2)).tolist()
        values = [[start] * 5 + [end] * 5 for start, end in drawn]
        others = [trial(i + 1, row) for i, row in enumerate(values[:8])]
        asked = trial(9, values[8][:5], done=False)
        stopped += bool(rule(HalvingSpec()).reason_to_stop(asked, others))
    assert stopped <= 15


def test_halving_lets_what_falls_fast_go_on() -> None:
    others = curves([0.4] * 6)
    falling = trial(9, [3.0, 2.0, 1.5, 1.0], done=False)
    flat = trial(9, [1.0, 1.0, 1.0, 1.0], done=False)
    assert not rule(HalvingSpec()).reason_to_stop(falling, others)
    assert rule(HalvingSpec()).reason_to_stop(flat, others)


def test_halving_stops_what_was_good_and_has_diverged() -> None:
    others = curves([0.2, 0.25, 0.3, 0.35, 0.4, 0.45])
    lost = trial(9, [0.1, 0.1, 0.1, math.nan], done=False)
    assert "no number" in rule(HalvingSpec()).reason_to_stop(lost, others)


def test_what_has_diverged_takes_no_place_of_those_that_go_on() -> None:
    others = [*curves([0.9] * 5), trial(6, [0.4] * 4, done=False)]
    lost = [trial(n, [0.1] * 5 + [math.nan], done=False) for n in (7, 8, 10)]
    good = trial(9, [0.5] * 4, done=False)
    fine = [trial(t.number, [0.1] * 6, done=False) for t in lost]
    assert not rule(HalvingSpec()).reason_to_stop(good, [*others, *lost])
    assert rule(HalvingSpec()).reason_to_stop(good, [*others, *fine])


@pytest.mark.parametrize("count", [4, 5])
def test_halving_waits_for_five_whole_curves(count: int) -> None:
    others = curves([0.2] * count)
    stopped = rule(HalvingSpec()).reason_to_stop(trial(9, [9.0] * 5, done=False), others)
    assert bool(stopped) == (count == 5)


def test_stopped_trials_do_not_say_how_long_curves_get() -> None:
    others = [replace(t, stopped_early=True) for t in curves([0.2] * 8)]
    assert not rule(HalvingSpec()).reason_to_stop(trial(9, [9.0] * 9, done=False), others)


def test_the_median_is_of_running_averages_up_to_the_same_step() -> None:
    others = [trial(i + 1, [3.0, 1.0 + i, 0.0]) for i in range(5)]
    # averages up to step 20: 2, 2.5, 3, 3.5, 4
    assert not rule(MedianSpec()).reason_to_stop(trial(9, [9.0, 3.0], done=False), others)
    reason = rule(MedianSpec()).reason_to_stop(trial(9, [9.0, 3.1], done=False), others)
    said = "the median of the averages of 5 finished trials"
    assert reason == f"at step 20: 3.1 at best, above 3, {said}"


def test_the_median_stops_nothing_where_curves_cross() -> None:
    others = [trial(i + 1, [2.0 - i / 10] * 5 + [0.2 + i / 10] * 5) for i in range(8)]
    early = trial(9, [2.0] * 5, done=False)
    late = trial(9, [2.0] * 9, done=False)
    assert not rule(MedianSpec()).reason_to_stop(early, others)
    assert not rule(MedianSpec()).reason_to_stop(early, others[::-1])
    assert rule(MedianSpec()).reason_to_stop(late, others)


def test_the_convex_rule_waits_for_five_whole_curves() -> None:
    bad, others = trial(9, decay(5.0, 6), done=False), curves([0.2, 0.25, 0.3, 0.35, 0.4])
    assert not rule(ConvexSpec(max_step=100)).reason_to_stop(bad, others[:4])
    assert rule(ConvexSpec(max_step=100)).reason_to_stop(bad, others)


def test_the_median_needs_five_finished_trials() -> None:
    others = [trial(i + 1, [1.0, 1.0]) for i in range(4)]
    assert not rule(MedianSpec()).reason_to_stop(trial(9, [9.0, 9.0], done=False), others)


def test_elapsed_time_may_stand_for_steps() -> None:
    others = [trial(i + 1, [1.0, 1.0, 1.0]) for i in range(5)]
    slow = trial(9, [9.0, 9.0], step=20, done=False)
    reason = rule(MedianSpec(use_elapsed=True)).reason_to_stop(slow, others)
    assert reason.startswith("after 80 s: 9 at best, above 1")


def test_a_diverged_trial_stops() -> None:
    others = curves([0.2, 0.25, 0.3, 0.35, 0.4, 0.45])
    lost = trial(9, [math.nan] * 5, done=False)
    assert "no number" in rule(HalvingSpec()).reason_to_stop(lost, others)
    assert "no number" in rule(MedianSpec()).reason_to_stop(lost, others)
    assert "not numbers" in rule(DecayCurveSpec()).reason_to_stop(lost, others)


def test_the_decay_rule_knows_late_bloomers_from_finished_curves() -> None:
    late = [[2.0, 2.0, 2.0, 2.0, level] for level in (0.1, 0.2, 0.3, 0.15, 0.25, 0.12)]
    others = [trial(i + 1, values) for i, values in enumerate(late)]
    same = trial(9, [2.0, 2.0, 2.0], done=False)
    assert not rule(DecayCurveSpec()).reason_to_stop(same, others)
    assert rule(MedianSpec()).reason_to_stop(trial(9, [2.1] * 3, done=False), others)


def test_the_convex_rule_follows_a_power_law() -> None:
    found = rule(ConvexSpec(max_step=1000, min_step=0))
    assert isinstance(found, ConvexRule)
    own = trial(1, [0.5 + 3.0 * (10 * (i + 1)) ** -0.5 for i in range(20)], done=False)
    forecast = found.forecast(own, [])
    assert forecast is not None
    assert forecast.loss == pytest.approx(0.5 + 3.0 * 1000**-0.5, abs=0.02)


def test_the_convex_rule_waits_for_its_least_step_and_measurements() -> None:
    others = curves([0.2, 0.25, 0.3, 0.35, 0.4])
    spec = ConvexSpec(max_step=100, min_step=60, min_measurements=5)
    assert not rule(spec).reason_to_stop(trial(9, decay(5.0, 5), done=False), others)
    assert rule(spec).reason_to_stop(trial(9, decay(5.0, 6), done=False), others)
    many = replace(spec, min_measurements=8)
    assert not rule(many).reason_to_stop(trial(9, decay(5.0, 7), done=False), others)


def test_forecasts_are_corrected_by_trials_of_a_like_learning_rate() -> None:
    def bent(lr: float) -> list[float]:
        return decay(0.5, 5) + [0.1 if lr > 0.1 else 0.9] * 5

    rates = (0.001, 0.001, 0.001, 1.0, 1.0, 1.0)
    others = [trial(i + 1, bent(lr), lr=lr) for i, lr in enumerate(rates)]
    found = rule(ConvexSpec(max_step=100, learning_rate="lr"))
    assert isinstance(found, ConvexRule)
    low, high = (
        found.forecast(trial(9, decay(0.5, 5), lr=lr, done=False), others) for lr in (0.001, 1.0)
    )
    assert low is not None
    assert high is not None
    assert high.loss < low.loss


def test_a_rule_needs_a_single_metric() -> None:
    metrics = (LOSS, Metric("other"))
    with pytest.raises(ValueError, match="single metric"):
        stopping_rule(StudyConfig(SPACE, metrics, stopping=MedianSpec()))
    assert stopping_rule(StudyConfig(SPACE, metrics)) is None


@dataclass(frozen=True)
class Search:
    """Thirty trainings, one after the other, whose losses fall by powers of the step to an end."""

    ends: Sequence[float]
    falls: Sequence[float]
    powers: Sequence[float]

    def curve(self, place: int) -> list[float]:
        steps = np.arange(1.0, 11.0)
        power = -self.powers[place]
        fallen = self.falls[place] * (steps**power - 10.0**power)
        return [float(loss) for loss in self.ends[place] + fallen]

    def stops_the_best(self, spec: StoppingSpec) -> bool:
        trials: list[Trial] = []
        best = int(np.argmin(self.ends))
        for place in range(best + 1):
            values = self.curve(place)
            stopped = self._stops(spec, trials, values)
            if place == best:
                return stopped < len(values)
            ended = trial(place + 1, values[:stopped])
            trials.append(replace(ended, stopped_early=stopped < len(values)))
        return False

    def _stops(self, spec: StoppingSpec, others: Sequence[Trial], values: list[float]) -> int:
        """After how many reports."""
        for count in range(1, len(values)):
            running = trial(len(others) + 1, values[:count], done=False)
            if rule(spec).reason_to_stop(running, others):
                return count
        return len(values)


def drawn_search(seed: int) -> Search:
    rng = np.random.default_rng(seed)
    ends, falls, powers = (rng.uniform(*of, 30) for of in ((0.1, 1.0), (1.0, 3.0), (0.7, 1.3)))
    return Search(ends.tolist(), falls.tolist(), powers.tolist())


@pytest.mark.parametrize("spec", [HalvingSpec(), DecayCurveSpec()])
def test_the_training_that_would_end_best_goes_on(spec: StoppingSpec) -> None:
    """Without their margins halving stops it in searches 2, 3 and 5, and the decay curve in 5."""
    assert not [seed for seed in range(8) if drawn_search(seed).stops_the_best(spec)]
