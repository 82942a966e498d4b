"""Scores the values of a row one by one, by how good trials with them were.

Where a metric is rough, a Gaussian process forgets the trend between its measurements, and takes
the corners of the space for promising, since nothing is near them. What each parameter alone says
is learned from few trials, and stays. The ratio of the densities of good and bad values is that of
Bergstra et al., "Algorithms for Hyper-Parameter Optimization", 2011 (TPE); each value's kernel is
as wide as its neighbours are far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from footplate.tuning.axes import Axis, Floats
    from footplate.tuning.encoding import Encoding

_GOOD = 0.2
_FEWEST_GOOD = 2
_FIRST, _ENOUGH = 10, 30
"""With so few trials they say nothing yet, with so many all they can."""
_FADING, _GONE = 50, 70
"""Where parameters depend on others, they are believed less from so many trials on, and no more."""
_GRID = np.linspace(0.0, 1.0, 129)
_NARROWEST = 0.01
_FLOOR = 1e-12
_ROOT_2PI = float(np.sqrt(2.0 * np.pi))


class Marginals:
    """Of measured ``rows``; the good ones are the fifth with the least ``losses``.

    ``failed``: rows that have none, and are bad. ``weight``: how much all of it counts, 0 to 1.
    Of what other parameters depend on they say nothing: the branch that is good first would be all
    that is looked at.
    """

    def __init__(
        self, encoding: Encoding, rows: Floats, losses: Floats, failed: Floats, weight: float
    ) -> None:
        order = np.argsort(losses, kind="stable")
        count = max(_FEWEST_GOOD, int(np.ceil(_GOOD * len(order))))
        good, bad = rows[order[:count]], np.vstack([rows[order[count:]], failed])
        self.weight = weight
        self._axes = encoding.axes
        choices = {slot.parent for slot in encoding.space.slots}
        self._tables = {
            j: _log_shares(along, good[:, j]) - _log_shares(along, bad[:, j])
            for j, along in enumerate(self._axes)
            if j not in choices
        }

    def worth(self, rows: Floats) -> Floats:
        """To add to the logarithm of a gain: how much likelier the values are in good trials."""
        found = np.zeros(len(rows))
        if self.weight == 0.0:
            return found
        for j, table in self._tables.items():
            active = ~np.isnan(rows[:, j])
            at, kinds = rows[active, j], self._axes[j].categories
            found[active] += table[at.astype(np.int64)] if kinds else np.interp(at, _GRID, table)
        return self.weight * found


def weight(encoding: Encoding, count: int, running: int, *, tied: bool) -> float:
    """How much marginals of so many measured rows count, 0 to 1.

    ``tied``: whether some trials end exactly alike. A metric without plateaus is the model's alone.
    ``running``: trials that haven't ended. Where parameters depend on others, marginals count for
    one trial at a time only: those that run side by side would all be of what is good so far.
    """
    dependent = bool(encoding.conditional.any())
    if not tied or (dependent and running):
        return 0.0
    believed = float(np.clip((count - _FIRST) / (_ENOUGH - _FIRST), 0.0, 1.0))
    if dependent:
        believed *= float(np.clip((_GONE - count) / (_GONE - _FADING), 0.0, 1.0))
    return believed


def _log_shares(along: Axis, positions: Floats) -> Floats:
    """Of each category, or along the axis."""
    known = positions[~np.isnan(positions)]
    if along.categories:
        counts = np.bincount(known.astype(np.int64), minlength=along.categories)
        shares = counts + 1.0 / along.categories
        return np.asarray(np.log(shares / shares.sum()))
    return np.asarray(np.log(_density(known) + _FLOOR))


def _density(positions: Floats) -> Floats:
    """On the grid: the mean of one normal density for each position, and a wide one for all."""
    centres = np.append(positions, 0.5)
    order = np.argsort(centres, kind="stable")
    known = np.concatenate([[0.0], centres[order], [1.0]])
    gaps = np.diff(known)
    widths = np.empty_like(centres)
    widths[order] = np.maximum(gaps[1:], gaps[:-1])
    widths = np.clip(widths, max(_NARROWEST, 1.0 / (1.0 + len(centres))), 1.0)
    widths[-1] = 1.0
    inside = ndtr((1.0 - centres) / widths) - ndtr(-centres / widths)
    heights = np.exp(-0.5 * ((_GRID[:, None] - centres) / widths) ** 2)
    return np.asarray((heights / (_ROOT_2PI * widths * inside)).mean(axis=1))
