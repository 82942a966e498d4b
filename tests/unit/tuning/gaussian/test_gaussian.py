"""The Gaussian process, against the formulas written out slowly."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.parameters import DoubleParameter
from footplate.domain.studies.space import SearchSpace
from footplate.tuning.encoding import Encoding
from footplate.tuning.gaussian.fitting import Beliefs, Evidence, Hyperparameters, fit, from_logs
from footplate.tuning.gaussian.posterior import Posterior
from tests.unit.tuning.spaces import BRIEF, spaces

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats


def slow_covariance(encoding: Encoding, hyper: Hyperparameters, rows: Floats) -> Floats:
    features = encoding.features(rows)
    covariance = np.zeros((len(rows), len(rows)))
    for i, one in enumerate(features):
        for j, other in enumerate(features):
            squared = sum(
                ((a - b) / hyper.lengths[owner]) ** 2
                for a, b, owner in zip(one, other, encoding.owners, strict=True)
            )
            smooth, rough = slow_matern(squared), slow_matern(16.0**2 * squared)
            covariance[i, j] = hyper.signal * smooth + hyper.rough * rough
    return covariance


def slow_matern(squared: float) -> float:
    r = math.sqrt(5 * squared)
    return (1 + r + 5 * squared / 3) * math.exp(-r)


def slow_posterior(
    encoding: Encoding, hyper: Hyperparameters, rows: Floats, y: Floats, at: Floats
) -> tuple[float, float]:
    whole = slow_covariance(encoding, hyper, np.vstack([rows, at[None, :]]))
    noisy = whole[:-1, :-1] + (hyper.noise + 1e-8) * np.eye(len(rows))
    across = whole[-1, :-1]
    variance = whole[-1, -1] - across @ np.linalg.solve(noisy, across)
    return float(across @ np.linalg.solve(noisy, y)), math.sqrt(max(variance, 1e-12))


def made(space: SearchSpace, seed: int, count: int) -> tuple[Encoding, Hyperparameters, Floats]:
    encoding, rng = Encoding(space), np.random.default_rng(seed)
    hyper = Hyperparameters(tuple(rng.uniform(0.2, 2.0, encoding.width)), 1.3, 0.1, 0.01)
    return encoding, hyper, encoding.draw(rng.random((count, encoding.width)))


@BRIEF
@given(spaces(), st.integers(0, 1000))
def test_predictions_are_those_of_the_formulas(space: SearchSpace, seed: int) -> None:
    encoding, hyper, rows = made(space, seed, 9)
    y = np.random.default_rng(seed).standard_normal(6)
    posterior = Posterior(encoding, hyper, rows[:6], y, rows[:0])
    mean, spread = posterior.predict(rows)
    for place, row in enumerate(rows):
        slow_mean, slow_spread = slow_posterior(encoding, hyper, rows[:6], y, row)
        assert mean[place] == pytest.approx(slow_mean, abs=1e-6)
        assert spread[place] == pytest.approx(slow_spread, abs=1e-4)
    assert posterior.mean(rows) == pytest.approx(mean)


@BRIEF
@given(spaces(), st.integers(0, 1000))
def test_pending_points_lower_the_spread_and_leave_the_mean(space: SearchSpace, seed: int) -> None:
    encoding, hyper, rows = made(space, seed, 12)
    y = np.random.default_rng(seed).standard_normal(5)
    without = Posterior(encoding, hyper, rows[:5], y, rows[:0])
    pending = Posterior(encoding, hyper, rows[:5], y, rows[5:8])
    mean, spread = without.predict(rows)
    same, lower = pending.predict(rows)
    assert same == pytest.approx(mean)
    assert (lower <= spread + 1e-6).all()
    _, whole = slow_posterior(encoding, hyper, rows[:8], np.zeros(8), rows[9])
    assert lower[9] == pytest.approx(whole, abs=1e-4)


@BRIEF
@given(spaces(), st.integers(0, 1000))
def test_slopes_of_predictions_are_those_of_small_steps(space: SearchSpace, seed: int) -> None:
    encoding, hyper, rows = made(space, seed, 8)
    y = np.random.default_rng(seed).standard_normal(5)
    posterior = Posterior(encoding, hyper, rows[:5], y, rows[5:7])
    at = rows[7]
    mean, spread, of_mean, of_spread = posterior.predict_with_slopes(at)
    assert [mean, spread] == pytest.approx([float(v[0]) for v in posterior.predict(at[None, :])])
    if spread < 1e-2:
        return  # next to a measured point the spread has a kink
    for j in np.flatnonzero(~encoding.categorical & ~np.isnan(at)):
        ends = np.vstack([at, at])
        ends[:, j] += (-1e-5, 1e-5)
        means, spreads = posterior.predict(ends)
        assert (means[1] - means[0]) / 2e-5 == pytest.approx(of_mean[j], abs=1e-3)
        assert (spreads[1] - spreads[0]) / 2e-5 == pytest.approx(of_spread[j], abs=1e-3)


@BRIEF
@given(spaces(), st.integers(0, 1000), st.booleans())
def test_gradients_of_the_evidence_are_those_of_small_steps(
    space: SearchSpace,
    seed: int,
    noisy: bool,  # noqa: FBT001 - drawn
) -> None:
    encoding, hyper, rows = made(space, seed, 7)
    y = np.sin(9.0 * encoding.features(rows).sum(axis=1))
    beliefs = Beliefs(encoding.width, noisy)
    evidence = Evidence(encoding.features(rows), encoding.owners, y, beliefs)
    theta = hyper.logs()
    _, gradient = evidence.loss(theta)
    for place in range(len(theta)):
        step = np.zeros(len(theta))
        step[place] = 1e-5
        slope = (evidence.loss(theta + step)[0] - evidence.loss(theta - step)[0]) / 2e-5
        assert gradient[place] == pytest.approx(slope, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("noisy", [False, True])
def test_the_evidence_is_that_of_the_formula(noisy: bool) -> None:  # noqa: FBT001 - drawn
    space = SearchSpace((DoubleParameter("x", 0.0, 1.0), DoubleParameter("z", 0.0, 1.0)))
    encoding, hyper, rows = made(space, 3, 6)
    y, beliefs = np.arange(6.0), Beliefs(2, noisy)
    covariance = slow_covariance(encoding, hyper, rows) + (hyper.noise + 1e-8) * np.eye(6)
    slow = 0.5 * y @ np.linalg.solve(covariance, y) + 0.5 * np.linalg.slogdet(covariance)[1]
    theta = hyper.logs()
    found, _ = Evidence(encoding.features(rows), encoding.owners, y, beliefs).loss(theta)
    assert found == pytest.approx(slow + beliefs.penalty(theta)[0])


def test_a_fit_finds_which_parameter_matters() -> None:
    space = SearchSpace((DoubleParameter("x", 0.0, 1.0), DoubleParameter("idle", 0.0, 1.0)))
    encoding = Encoding(space)
    rows = np.random.default_rng(0).random((30, 2))
    y = np.sin(9 * rows[:, 0])
    beliefs = Beliefs(2, noisy=False)
    evidence = Evidence(encoding.features(rows), encoding.owners, y, beliefs)
    found = fit(evidence, beliefs, [beliefs.centre], 60)
    assert found.lengths[0] < 0.5 < 2.0 < found.lengths[1]
    assert found.rough < 1e-3


def test_a_fit_tells_waves_from_a_trend() -> None:
    """Without a kernel for them, lengths would be those of the waves, and the trend forgotten."""
    rows = np.random.default_rng(0).random((50, 2))
    y = np.cos(2 * rows).sum(axis=1) + 0.1 * np.sin(150 * rows).sum(axis=1)
    y = (y - y.mean()) / y.std()
    beliefs = Beliefs(2, noisy=False)
    hyper = fit(Evidence(rows, np.arange(2), y, beliefs), beliefs, [beliefs.centre], 60)
    assert min(hyper.lengths) > 0.3
    assert hyper.rough + hyper.noise > 0.02


def test_points_that_are_the_same_do_no_harm() -> None:
    encoding, hyper, rows = made(SearchSpace((DoubleParameter("x", 0.0, 1.0),)), 0, 1)
    exact = Hyperparameters(hyper.lengths, hyper.signal, 0.0, 1e-12)
    same = np.repeat(rows, 50, axis=0)
    posterior = Posterior(encoding, exact, same, np.ones(50), rows[:0])
    mean, spread = posterior.predict(rows)
    assert mean[0] == pytest.approx(1.0, abs=1e-3)
    assert np.isfinite(spread).all()


def test_hyperparameters_survive_their_logarithms() -> None:
    hyper = Hyperparameters((0.5, 2.0), 1.5, 0.1, 0.01)
    again = from_logs(hyper.logs())
    assert again.lengths == pytest.approx(hyper.lengths)
    assert [again.signal, again.rough, again.noise] == pytest.approx([1.5, 0.1, 0.01])


@pytest.mark.parametrize("noisy", [False, True])
def test_a_measured_point_is_remembered_but_where_measurements_differ(noisy: bool) -> None:  # noqa: FBT001 - drawn
    """Else the best point would be smoothed away, and a plateau tried again and again."""
    rng = np.random.default_rng(0)
    rows, y = rng.random((40, 2)), rng.standard_normal(40)
    encoding = Encoding(
        SearchSpace((DoubleParameter("x", 0.0, 1.0), DoubleParameter("z", 0.0, 1.0)))
    )
    beliefs = Beliefs(2, noisy)
    evidence = Evidence(encoding.features(rows), encoding.owners, y, beliefs)
    hyper = fit(evidence, beliefs, [beliefs.centre], 60)
    posterior = Posterior(encoding, hyper, rows, y, rows[:0])
    off = float(np.abs(posterior.mean(rows) - y).max())
    assert (off > 1.0) is noisy
    assert (off < 0.01) is not noisy
