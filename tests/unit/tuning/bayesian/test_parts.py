"""Warp, acquisition and model, each by itself."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.tuning.bayesian.candidate_value import LogExpectedImprovement
from footplate.tuning.bayesian.model import Model, model_from_record
from footplate.tuning.bayesian.surrogate import Warp
from footplate.tuning.gaussian.fitting import Hyperparameters
from tests.unit.tuning.spaces import BRIEF

FINITE = st.floats(-1.7e308, 1.7e308, allow_subnormal=False)


@BRIEF
@given(st.lists(FINITE, min_size=1, max_size=120))
def test_a_warp_keeps_the_order_and_stays_finite(losses: list[float]) -> None:
    found = Warp(np.array(losses)).warped
    assert np.isfinite(found).all()
    order = np.argsort(losses, kind="stable")
    assert (np.diff(found[order]) >= -1e-9).all()


@BRIEF
@given(st.lists(st.integers(-100, 100), min_size=3, max_size=30, unique=True))
def test_a_warp_can_be_undone(values: list[int]) -> None:
    losses = np.array(values, dtype=np.float64)
    warp = Warp(losses)
    best = int(losses.argmin())
    assert warp.loss(float(warp.warped[best])) == pytest.approx(losses[best], abs=1e-6)
    beyond = warp.loss(float(warp.warped[best]) - 1.0)
    assert beyond < losses[best]


def test_one_horrible_loss_hardly_matters() -> None:
    mild, wild = (Warp(np.array([1.0, 2.0, 3.0, 4.0, worst])).warped for worst in (5.0, 1e12))
    assert wild == pytest.approx(mild, abs=0.3)


def test_trials_near_the_best_are_not_the_measure() -> None:
    """However many there are: a gain that was small stays small, and what is good stays good."""
    spread = np.linspace(10.0, 1.0, 50)
    gathered = np.append(spread, 1.0 - 1e-4 * np.arange(50))
    warped = Warp(gathered).warped
    gain, way = warped[50] - warped[-1], warped[25] - warped[49]
    assert gain / way == pytest.approx((gathered[50] - gathered[-1]) / (spread[25] - spread[49]))


def test_equal_losses_say_nothing() -> None:
    assert Warp(np.full(5, 0.7)).warped == pytest.approx(np.zeros(5))
    assert Warp(np.array([1e300])).warped == pytest.approx([0.0])


@pytest.mark.parametrize("best", [-40.0, -10.0, -6.1, -5.9, -1.0, 0.0, 2.0])
def test_the_logarithm_of_the_gain_is_that_of_the_integral(best: float) -> None:
    mean, spread = 0.3, 0.7
    found = LogExpectedImprovement(best).value(np.array([mean]), np.array([spread]))[0]
    z = (best - mean) / spread
    # phi(z) is taken out, so that the integral of max(0, z - t) phi(t) stays a number
    t = np.linspace(0, 40 / max(1, abs(z)) if z < -4 else 40, 400_001)
    inner = t * np.exp(z * t - t * t / 2) if z < 0 else t * np.exp(-((t - z) ** 2) / 2)
    gain = math.log(np.trapezoid(inner, t)) - (z * z / 2 if z < 0 else 0)
    assert found == pytest.approx(gain - 0.5 * math.log(2 * math.pi) + math.log(spread), abs=5e-3)


@pytest.mark.parametrize("mean", [-3.0, -1.0, 0.5, 20.0])
def test_slopes_are_those_of_small_steps(mean: float) -> None:
    acquisition = LogExpectedImprovement(-1.0)

    def value(mean: float, spread: float) -> float:
        return float(acquisition.value(np.array([mean]), np.array([spread]))[0])

    by_mean, by_spread = acquisition.slopes(mean, 0.6)
    step = 1e-5
    slow_mean = (value(mean + step, 0.6) - value(mean - step, 0.6)) / (2 * step)
    slow_spread = (value(mean, 0.6 + step) - value(mean, 0.6 - step)) / (2 * step)
    assert [by_mean, by_spread] == pytest.approx([slow_mean, slow_spread], rel=1e-2)


def test_a_model_is_json_and_back() -> None:
    one = Hyperparameters((0.5, 2.0), 1.5, 0.1, 0.01)
    shared = Model(30, 30, (one, one), one, ((one,), (one, one)))
    for model in (Model(12, 10, (one,)), shared, Model(12, 10, (one,), sharpness=(3.0, 0.5))):
        text = json.dumps(model.to_record())
        assert model_from_record(json.loads(text)) == model


def test_a_model_of_another_version_is_fitted_anew_and_nonsense_refused() -> None:
    record = Model(12, 10, (Hyperparameters((0.5,), 1.5, 0.1, 0.01),)).to_record()
    assert model_from_record({**record, "version": 0}) is None
    with pytest.raises(TypeError):
        model_from_record({**record, "seen": "12"})
    with pytest.raises(TypeError):
        model_from_record({**record, "outputs": [3]})
    with pytest.raises(TypeError):
        model_from_record({**record, "sharpness": 3.0})
