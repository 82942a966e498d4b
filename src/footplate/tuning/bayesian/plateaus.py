"""Detects plateaus, where a trial would repeat the result of another.

A score that takes few values (a tree's, a neighbours', an accuracy) stays the same to the last
digit where a change doesn't matter. Trials that did end alike say which changes those are. A
metric without equal values isn't concerned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from scipy.special import expit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from footplate.tuning.axes import Floats
    from footplate.tuning.encoding import Encoding

    Places = NDArray[np.int64]

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


def sharpness(encoding: Encoding, rows: Floats, losses: Floats) -> tuple[float, ...] | None:
    """For each slot: how soon a change of it ends a tie. None: too few rows end alike.

    A logistic model of whether two of the better half of trials end alike, by how far apart they
    are along each slot.
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
    """``sharp``: by :func:`sharpness`; ``pending``: rows that have no loss yet."""

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
        """To add to the worth of rows: the logarithm of how likely they end like no other."""
        if self._scale is None:
            return np.zeros(len(rows))
        apart = cdist(_columns(self._encoding, rows) * self._scale, self._known, "cityblock")
        return np.asarray(-_WEIGHT * np.logaddexp(0.0, _SURE - apart.min(axis=1)))


def _better_half(losses: Floats) -> Places:
    order = np.argsort(losses, kind="stable")
    return np.sort(order[: (len(losses) + 1) // 2])


def _some(tied: NDArray[np.bool_]) -> Places:
    """Places of pairs: tied ones, and any, evenly."""
    if len(tied) <= _TIED_PAIRS + _PAIRS:
        return np.arange(len(tied))
    evenly = np.linspace(0, len(tied) - 1, _PAIRS).astype(np.int64)
    return np.unique(np.concatenate([np.flatnonzero(tied)[:_TIED_PAIRS], evenly]))


def _owners(encoding: Encoding) -> Places:
    """The slot of each column."""
    counts = [_width(encoding, j) for j in range(encoding.width)]
    return np.repeat(np.arange(encoding.width), counts)


def _width(encoding: Encoding, slot: int) -> int:
    kinds = encoding.kinds.get(slot)
    return (1 if kinds is None else int(kinds.max()) + 1) + int(encoding.conditional[slot])


def _columns(encoding: Encoding, rows: Floats) -> Floats:
    """Sums of differences along a slot's columns: of numbers as they are, 1 for another category.

    What isn't active is between 1/2 and 1 from what is.
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
