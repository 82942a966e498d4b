"""Forecasts from whole curves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.tuning.stopping.curves import Curve, Forecast, Scale, passing, scale_of
from footplate.tuning.stopping.forecast import by_levels, forecast_end
from tests.unit.tuning.spaces import BRIEF

LOSSES = st.floats(-1e99, 1e99) | st.just(math.inf)


def curve(losses: list[float]) -> Curve:
    return Curve(tuple(float(i + 1) for i in range(len(losses))), tuple(losses))


def falling(level: float, count: int = 10) -> Curve:
    return curve([level + 1.0 / (i + 1) for i in range(count)])


def fading(level: float, fall: float, part: float, count: int = 8) -> Curve:
    """Falls by ``fall`` from its second to its fourth report, then by a part of that again."""
    return curve([level + fall, level + fall, level, level, *[level - part * fall] * 4][:count])


def by_level(own: Curve, whole: list[Curve]) -> Forecast:
    scale = scale_of([known.losses[-1] for known in whole])
    assert scale is not None
    ends = np.array([known.best for known in whole])
    return by_levels(passing([own], own.end), passing(whole, own.end), ends, scale)


def test_like_curves_end_alike() -> None:
    whole = [falling(level) for level in np.linspace(0.2, 1.0, 20)]
    found = forecast_end(falling(0.45, 5), whole, 10.0)
    assert found is not None
    assert found.low <= 0.55 <= found.high
    assert found.high - found.low < 0.1
    assert found.to_beat == pytest.approx(0.3)
    assert found.chance < 0.01


def test_what_is_ahead_of_the_best_is_likely_to_beat_it() -> None:
    whole = [falling(level) for level in np.linspace(0.2, 1.0, 20)]
    found = forecast_end(falling(0.1, 5), whole, 10.0)
    assert found is not None
    assert found.chance > 0.9


def test_a_forecast_is_less_sure_where_early_results_say_less() -> None:
    rng = np.random.default_rng(0)
    chances = []
    for noise in (0.01, 0.5):
        starts = rng.uniform(0.5, 1.5, 30)
        whole = [curve([s] * 5 + [s + noise * rng.uniform(-1.0, 0.0)] * 5) for s in starts]
        found = forecast_end(curve([0.8] * 5), whole, 10.0)
        assert found is not None
        chances.append(found.chance)
    assert chances[0] < 0.001 < chances[1]


def test_where_curves_cross_the_slow_are_likelier_to_win() -> None:
    whole = [curve([2.0 - level] * 5 + [level] * 5) for level in np.linspace(0.2, 0.9, 12)]
    slow, fast = (forecast_end(curve([start] * 5), whole, 10.0) for start in (1.85, 1.15))
    assert slow is not None
    assert fast is not None
    assert slow.chance > 0.2
    assert fast.chance < 0.01


@pytest.mark.parametrize("known", [[0.5] * 9, [0.1, 0.2, 0.3, 0.4], [math.inf] * 9])
def test_too_few_ends_or_ends_that_are_alike_tell_nothing(known: list[float]) -> None:
    whole = [curve([1.0] * 5 + [end] * 5) for end in known]
    assert forecast_end(curve([0.9] * 5), whole, 10.0) is None


def test_curves_that_are_over_already_tell_nothing() -> None:
    whole = [falling(level, 5) for level in np.linspace(0.2, 1.0, 20)]
    assert forecast_end(falling(0.3, 5), whole, 10.0) is None


def test_a_curve_unlike_any_other_is_foretold_with_less_certainty_by_its_level() -> None:
    whole = [falling(level) for level in np.linspace(0.2, 1.0, 20)]
    usual, flat = (by_level(own, whole) for own in (falling(0.8, 5), curve([1.0] * 5)))
    assert flat.high - flat.low > usual.high - usual.low


def test_what_still_falls_is_foretold_with_less_certainty() -> None:
    """Where each falls by a part of what it fell before; levels give all the same spread."""
    rng = np.random.default_rng(1)
    pace = np.geomspace(0.02, 2.0, 12)
    whole = [
        fading(level, fall, part)
        for level, fall, part in zip(
            rng.permutation(12), rng.permutation(pace), rng.uniform(0.2, 0.8, 12), strict=True
        )
    ]
    slow, fast = (forecast_end(fading(14.0, fall, 0.5, 4), whole, 8.0) for fall in (0.05, 1.5))
    assert slow is not None
    assert fast is not None
    assert fast.high - fast.low > 3.0 * (slow.high - slow.low)


@BRIEF
@given(st.lists(st.lists(LOSSES, min_size=1, max_size=9), max_size=9), st.lists(LOSSES, min_size=1))
def test_a_forecast_is_made_of_numbers(known: list[list[float]], own: list[float]) -> None:
    found = forecast_end(curve(own), [curve(losses) for losses in known], 100.0)
    if found is not None:
        assert all(map(math.isfinite, (found.low, found.high, found.to_beat, found.trend)))
        assert 0.0 <= found.chance <= 1.0
        assert found.low <= found.high


def test_a_scale_counts_bad_losses_by_their_logarithm() -> None:
    scale = Scale(1.0, 3.0)
    places = scale.place(np.array([1.0, 2.0, 3.0, 1.0 + 2.0 * math.e, math.inf]))
    assert places == pytest.approx([0.0, 0.5, 1.0, 2.0, 8.0])
    assert [scale.loss(place) for place in places[:4]] == pytest.approx(
        [1.0, 2.0, 3.0, 1.0 + 2.0 * math.e]
    )
