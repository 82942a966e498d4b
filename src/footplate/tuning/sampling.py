"""Draws random points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate.domain.studies.parameters import DoubleParameter
from footplate.tuning.axes import axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.studies.parameters import Parameter, Value
    from footplate.domain.studies.space import Point, SearchSpace
    from footplate.tuning.seen_points import SeenPoints

_ATTEMPTS = 32
_WALKED = 4096
"""In finite spaces of at most so many points, what is left is counted out."""


def generator(seed: int, *places: int) -> np.random.Generator:
    """One of its own for each place, so that no draw depends on how many were made before."""
    return np.random.default_rng([seed, *places])


def draw(space: SearchSpace, rng: np.random.Generator) -> Point:
    point: dict[str, Value] = {}
    _draw(space.parameters, rng, point)
    return point


def draw_new(
    space: SearchSpace, rng: np.random.Generator, known: SeenPoints, *, again: bool
) -> Point | None:
    """None: all points have been tried. ``again``: then one of them comes back."""
    if known.everything:
        return draw(space, rng) if again else None
    for _ in range(_ATTEMPTS):
        point = draw(space, rng)
        if point not in known:
            return point
    return _draw_left(space, rng, known)


def _draw_left(space: SearchSpace, rng: np.random.Generator, known: SeenPoints) -> Point:
    """Where most have been tried: one of those that are left, by its number."""
    size = space.size
    if size is None:
        return draw(space, rng)  # a range of numbers so narrow that nearly all are taken
    if size <= _WALKED:
        points = (space.point_at(index) for index in range(size))
        left = [point for point in points if point not in known]
        return left[int(rng.integers(len(left)))]
    start = int(rng.integers(min(size, 2**62)))
    steps = ((start + step) % size for step in range(size))
    return next(point for point in map(space.point_at, steps) if point not in known)


def _draw(
    parameters: Sequence[Parameter], rng: np.random.Generator, point: dict[str, Value]
) -> None:
    for parameter in parameters:
        along = axis(parameter)
        value = along.value(float(along.spread(rng.random(1))[0]))
        point[parameter.name] = value
        if not isinstance(parameter, DoubleParameter):
            below = [b.parameter for b in parameter.branches if value in b.values]
            _draw(below, rng, point)
