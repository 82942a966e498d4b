"""The initial points, suggested before there is a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate.tuning.sampling import draw_new, generator

if TYPE_CHECKING:
    from footplate.domain.studies.space import Point
    from footplate.tuning.encoding import Encoding
    from footplate.tuning.sampling import SeenPoints

_FEWEST, _MOST = 3, 10
_LOOKED_AT = 64


def initial_count(encoding: Encoding) -> int:
    """Returns after how many trials the model is used."""
    return min(_MOST, _FEWEST + encoding.width)


def initial_point(
    encoding: Encoding, index: int, seed: int, known: SeenPoints, *, again: bool
) -> Point | None:
    """Returns initial point number ``index``, or a later one if it is known; None: all were tried.

    The first point is the centre, or the defaults if the study gives any; then a Sobol sequence
    follows.
    """
    if known.everything and not again:
        return None
    if index == 0:
        point = _centre(encoding)
        if point not in known:
            return point
    first = max(index, 1)
    for row in encoding.draw(_sobol(encoding.width, first + _LOOKED_AT, seed)[first:]):
        point = encoding.point(row)
        if point not in known:
            return point
    return draw_new(encoding.space, generator(seed, index), known, again=again)


def _centre(encoding: Encoding) -> Point:
    """Returns the central point: parameters have their default, or the middle of their axis."""
    middle = np.array([along.spread(np.array([0.5]))[0] for along in encoding.axes])
    for j, slot in enumerate(encoding.space.slots):
        default = slot.parameter.default
        if default is not None:
            middle[j] = encoding.axes[j].position(default)
    return encoding.point(encoding.settle(middle[None, :], generator(0))[0])


def _sobol(width: int, count: int, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    from scipy.stats import qmc  # heavy: only studies that begin need it

    powers = int(np.ceil(np.log2(count)))
    points: np.ndarray[tuple[int, int], np.dtype[np.float64]]
    points = qmc.Sobol(width, rng=generator(seed)).random_base2(powers)
    return points[:count]
