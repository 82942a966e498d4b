"""The model of one metric, and the warped losses that it is fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from footplate.domain.studies.metrics import Metric
from footplate.tuning.bayesian.prior import Belief, Prior
from footplate.tuning.encoding import Encoding
from footplate.tuning.gaussian.fitting import Hyperparameters
from footplate.tuning.gaussian.posterior import Posterior

if TYPE_CHECKING:
    from footplate.tuning.axes import Floats

_FLAT = 1e-12
_FIRST = 50
"""Of so few losses all count for the median."""


class Warp:
    """The warp of finite losses, in the order of their trials.

    ``warped`` has mean 0, and variance 1 unless the losses are all equal. Half-rank warp: losses
    worse than a median are moved towards it, to where their ranks would lie if losses were normally
    distributed. Source: Song et al., "The Vizier Gaussian Process Bandit Algorithm", 2024, 4.3.
    """

    def __init__(self, losses: Floats) -> None:
        # The scale first, so that sums of the largest numbers stay finite.
        self._unit = float(np.abs(losses).max()) or 1.0
        scaled = losses / self._unit
        halved = _half_ranked(scaled)
        self._centre = float(halved.mean())
        self._spread = float(halved.std())
        if self._spread < _FLAT:
            self._spread = 1.0
            halved = np.full_like(halved, self._centre)
        self.warped = (halved - self._centre) / self._spread
        order = np.argsort(scaled, kind="stable")
        self._known, self._meant = self.warped[order], scaled[order]

    def loss(self, warped: float) -> float:
        """Converts a warped loss back; extrapolates linearly beyond the best and the worst loss."""
        step = self._spread
        if warped <= self._known[0]:
            found = self._meant[0] + (warped - self._known[0]) * step
        elif warped >= self._known[-1]:
            found = self._meant[-1] + (warped - self._known[-1]) * step
        else:
            found = np.interp(warped, self._known, self._meant)
        return float(found) * self._unit


def _half_ranked(losses: Floats) -> Floats:
    """Replaces losses worse than a median by values that depend only on their ranks.

    The median is of the earlier half of the trials. Late trials gather around the best one: with
    their median nearly all other trials would be bad, and a tiny improvement would count as a great
    gain.
    """
    median = np.median(losses[: max(_FIRST, len(losses) // 2)])
    bad = losses > median
    spread = np.sqrt(np.mean((losses[~bad] - median) ** 2))
    if spread < _FLAT:
        return losses.copy()  # half of them are equal: there is nothing to go by
    ranks = np.argsort(np.argsort(losses[bad], kind="stable"), kind="stable")
    normal = ndtri(0.5 + 0.5 * (ranks + 0.5) / max(len(ranks), 1))
    found = losses.copy()
    found[bad] = np.minimum(losses[bad], median + spread * normal)
    return found


class Surrogate:
    """The model of one metric, which works on warped losses; :meth:`value` converts them back.

    With a prior, the Gaussian process models only what the prior doesn't explain.
    """

    def __init__(
        self,
        encoding: Encoding,
        hyperparameters: Hyperparameters,
        rows: Floats,
        losses: Floats,
        pending: Floats,
        prior: Prior | None = None,
    ) -> None:
        self._warp = Warp(losses)
        self._prior = prior
        self._belief = belief(prior, rows, self._warp.warped)
        rest = self._warp.warped - self._belief.explained
        self._posterior = Posterior(encoding, hyperparameters, rows, rest, pending)
        self._varies = float(np.sqrt(hyperparameters.signal + hyperparameters.rough))
        self.expected = self.mean(rows)
        """What the model makes of the measured points: noise is averaged out."""

    @property
    def best(self) -> float:
        return float(self.expected.min())

    def mean(self, rows: Floats) -> Floats:
        return self._posterior.mean(rows) + self._from_prior(rows)

    def predict(self, rows: Floats) -> tuple[Floats, Floats]:
        mean, spread = self._posterior.predict(rows)
        return mean + self._from_prior(rows), spread

    def predict_with_slopes(self, row: Floats) -> tuple[float, float, Floats, Floats]:
        mean, spread, of_mean, of_spread = self._posterior.predict_with_slopes(row)
        if self._prior is not None and self._belief.weight > 0.0:
            mean += float(self._from_prior(row[None, :])[0])
            of_mean = of_mean + self._belief.weight * self._prior.slopes(row)
        return mean, spread, of_mean, of_spread

    def _from_prior(self, rows: Floats) -> Floats:
        if self._prior is None or self._belief.weight == 0.0:
            return np.zeros(len(rows))
        return self._belief.weight * (self._prior.mean(rows) - self._belief.centre)

    def unknown(self, spread: float) -> float:
        """Returns the share of the possible variation that is unknown at a point, from 0 to 1."""
        return spread / self._varies

    def value(self, metric: Metric, warped: float) -> float:
        """Converts a warped loss to a value in the metric's own unit."""
        return metric.value(self._warp.loss(warped))


def belief(prior: Prior | None, rows: Floats, warped: Floats) -> Belief:
    expected = np.zeros(len(rows)) if prior is None else prior.mean(rows)
    return Belief(expected, warped)
