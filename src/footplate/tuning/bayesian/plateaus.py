"""The model of a metric that has equal values; it ignores metrics without any.

It learns which values of each parameter are good, one by one, and where a trial would repeat the
result of another.

Where a metric is rough, a Gaussian process forgets the trend between its measurements, and takes
the corners of the space for promising, since nothing is near them. What each parameter alone says
is learned from few trials, and stays. The ratio of the densities of good and bad values is that of
Bergstra et al., "Algorithms for Hyper-Parameter Optimization", 2011 (TPE); each value's kernel is
as wide as its neighbours are far.

A score that takes few values (a tree's, a neighbours', an accuracy) stays the same to the last
digit where a change doesn't matter. Trials that did end alike say which changes those are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import expit, ndtr

from footplate.tuning.axes import Axis
from footplate.tuning.encoding import Encoding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats

    Places = NDArray[np.int64]

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
_WEIGHT = 1.5
_SURE = 4.0
"""The log odds that a point ends like itself: 98 %."""
_EXPECTED, _DOUBT = float(np.log(30.0)), 2.0
"""Of the logarithm of a sharpness, before any tie is known: a tenth of an axis tells points apart,
or seven times less or more."""
_BOUNDS = (-3.0, 8.0)
_MIN_TIES = 2
_TIED_PAIRS, _PAIRS = 1500, 2500
"""Not more than so many are looked at: a fit stays quick."""
_ITERATIONS = 30


class Marginals:
    """The densities of good and bad values along each slot; the fifth with least loss is good.

    ``failed`` are rows without losses, which are bad. ``weight`` says how much the densities count,
    from 0 to 1. Parameters on which others depend are ignored: else the search would look only at
    the branch that was good first.
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
        """Returns what to add to a gain's logarithm: how likely a row's values are good ones."""
        found = np.zeros(len(rows))
        if self.weight == 0.0:
            return found
        for j, table in self._tables.items():
            active = ~np.isnan(rows[:, j])
            at, kinds = rows[active, j], self._axes[j].categories
            found[active] += table[at.astype(np.int64)] if kinds else np.interp(at, _GRID, table)
        return self.weight * found


def weight(encoding: Encoding, count: int, running: int, *, tied: bool) -> float:
    """Returns how much the marginals of ``count`` measured rows count, from 0 to 1.

    ``tied``: some trials end with exactly the same value; without plateaus only the model counts.
    ``running`` is the number of trials that haven't ended. If parameters depend on others,
    marginals count only while no trial runs: else parallel trials would all be of the branch that
    is good so far.
    """
    dependent = bool(encoding.conditional.any())
    if not tied or (dependent and running):
        return 0.0
    believed = float(np.clip((count - _FIRST) / (_ENOUGH - _FIRST), 0.0, 1.0))
    if dependent:
        believed *= float(np.clip((_GONE - count) / (_GONE - _FADING), 0.0, 1.0))
    return believed


def _log_shares(along: Axis, positions: Floats) -> Floats:
    """Returns the log of each category's share of the positions, or of their density on a grid."""
    known = positions[~np.isnan(positions)]
    if along.categories:
        counts = np.bincount(known.astype(np.int64), minlength=along.categories)
        shares = counts + 1.0 / along.categories
        return np.asarray(np.log(shares / shares.sum()))
    return np.asarray(np.log(_density(known) + _FLOOR))


def _density(positions: Floats) -> Floats:
    """Returns densities on the grid: the mean of one normal per position, and a wide one."""
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


def sharpness(encoding: Encoding, rows: Floats, losses: Floats) -> tuple[float, ...] | None:
    """Returns for each slot how soon a change of it ends a tie; None: too few rows end alike.

    The result comes from a logistic model of whether two trials of the better half end alike, by
    their distance along each slot.
    """
    better = _better_half(losses)
    encoding = encoding.around(rows[better])
    known, ends = _columns(encoding, rows[better]), losses[better]
    one, other = np.triu_indices(len(ends), 1)
    tied = ends[one] == ends[other]
    if tied.sum() < _MIN_TIES:
        return None
    kept = _some(tied)
    one, other, tied = one[kept], other[kept], tied[kept]
    starts = np.searchsorted(_owners(encoding), np.arange(encoding.width))
    gaps = np.add.reduceat(np.abs(known[one] - known[other]), starts, axis=1)
    sides = np.where(tied, 1.0, -1.0)

    def loss(logs: Floats) -> tuple[float, Floats]:
        sharp = np.exp(logs)
        margins = sides * (_SURE - gaps @ sharp)
        off = (logs - _EXPECTED) / _DOUBT
        slopes = ((expit(-margins) * sides) @ gaps) * sharp + off / _DOUBT
        return float(np.logaddexp(0.0, -margins).sum() + 0.5 * off @ off), slopes

    start = np.full(encoding.width, _EXPECTED)
    bounds, options = [_BOUNDS] * encoding.width, {"maxiter": _ITERATIONS}
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return tuple(float(value) for value in np.exp(found.x))


class Plateaus:
    """The worth of leaving plateaus, where many trials end with the same value.

    ``sharp`` is the result of :func:`sharpness`; ``pending`` are rows that have no loss yet.
    """

    def __init__(
        self,
        encoding: Encoding,
        sharp: Sequence[float] | None,
        rows: Floats,
        losses: Floats,
        pending: Floats,
    ) -> None:
        self._scale: Floats | None = None
        if sharp is not None:
            known = np.vstack([rows[_better_half(losses)], pending])
            self._encoding = encoding.around(known)
            self._scale = np.array(sharp)[_owners(self._encoding)]
            self._known = _columns(self._encoding, known) * self._scale

    def worth(self, rows: Floats) -> Floats:
        """Returns what to add to rows' worth: the log chance that no known row ends alike."""
        if self._scale is None:
            return np.zeros(len(rows))
        apart = cdist(_columns(self._encoding, rows) * self._scale, self._known, "cityblock")
        return np.asarray(-_WEIGHT * np.logaddexp(0.0, _SURE - apart.min(axis=1)))


def _better_half(losses: Floats) -> Places:
    order = np.argsort(losses, kind="stable")
    return np.sort(order[: (len(losses) + 1) // 2])


def _some(tied: NDArray[np.bool_]) -> Places:
    """Returns the indices of some pairs: tied ones, and an even selection of all."""
    if len(tied) <= _TIED_PAIRS + _PAIRS:
        return np.arange(len(tied))
    evenly = np.linspace(0, len(tied) - 1, _PAIRS).astype(np.int64)
    return np.unique(np.concatenate([np.flatnonzero(tied)[:_TIED_PAIRS], evenly]))


def _owners(encoding: Encoding) -> Places:
    """Returns the slot of each column."""
    counts = [_width(encoding, j) for j in range(encoding.width)]
    return np.repeat(np.arange(encoding.width), counts)


def _width(encoding: Encoding, slot: int) -> int:
    kinds = encoding.kinds.get(slot)
    return (1 if kinds is None else int(kinds.max()) + 1) + int(encoding.conditional[slot])


def _columns(encoding: Encoding, rows: Floats) -> Floats:
    """Returns columns such that distances along a slot sum up: of numbers, or 1 between categories.

    An inactive slot is between 1/2 and 1 away from active ones.
    """
    found: list[Floats] = []
    for j in range(encoding.width):
        position = rows[:, j]
        absent = np.isnan(position)
        kinds = encoding.kinds.get(j)
        if kinds is not None:
            column = np.where(absent, -1, kinds[np.nan_to_num(position).astype(np.int64)])
            found.append(0.5 * (column[:, None] == np.arange(kinds.max() + 1)))
        else:
            found.append(np.where(absent, 0.5, position)[:, None])
        if encoding.conditional[j]:
            found.append(0.5 * absent[:, None])
    return np.hstack(found)
