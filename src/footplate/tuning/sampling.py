"""Points that a study has tried or is trying, and random points that it hasn't."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from footplate.domain.studies.parameters import DoubleParameter, Parameter, Value
from footplate.domain.studies.space import Point, SearchSpace, key
from footplate.domain.studies.study import Noise, Study
from footplate.tuning.axes import axis

_ATTEMPTS = 32
_WALKED = 4096
"""In finite spaces of at most so many points, what is left is counted out."""


class SeenPoints:
    """The set of points that are tried or suggested; each suggestion of a batch is added."""

    def __init__(self, points: Iterable[Point], size: int | None) -> None:
        self._keys = {key(point) for point in points}
        self._size = size

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, point: Point) -> bool:
        return key(point) in self._keys

    def add(self, point: Point) -> None:
        self._keys.add(key(point))

    @property
    def everything(self) -> bool:
        """Returns whether all points have been tried."""
        return self._size is not None and len(self._keys) >= self._size


def tried(study: Study) -> SeenPoints:
    """Returns the points of this study, and of earlier ones of its space, not to be repeated.

    Points outside a finite space don't count: a client that completes trials of its own may have
    tried anything.
    """
    space = study.config.space
    alike = [one for one in study.earlier if one.config.space == space]
    points = (trial.point for one in (*alike, study) for trial in one.trials)
    if space.size is not None:
        points = (point for point in points if space.has(point))
    return SeenPoints(points, space.size)


def repeats(study: Study) -> bool:
    """Returns whether a point may be tried again."""
    return study.config.noise is Noise.HIGH


def all_tried(study: Study) -> str:
    """Returns why no more points are suggested."""
    size = study.config.space.size
    points = "the only point" if size == 1 else f"all {size} points"
    return f"the study has tried {points} of the search space"


def generator(seed: int, *places: int) -> np.random.Generator:
    """Returns a random generator for each place, so that its draws don't depend on other places."""
    return np.random.default_rng([seed, *places])


def draw(space: SearchSpace, rng: np.random.Generator) -> Point:
    point: dict[str, Value] = {}
    _draw(space.parameters, rng, point)
    return point


def draw_new(
    space: SearchSpace, rng: np.random.Generator, known: SeenPoints, *, again: bool
) -> Point | None:
    """Draws a new point; None: all have been tried. ``again`` allows repeating a point then."""
    if known.everything:
        return draw(space, rng) if again else None
    for _ in range(_ATTEMPTS):
        point = draw(space, rng)
        if point not in known:
            return point
    return _draw_left(space, rng, known)


def _draw_left(space: SearchSpace, rng: np.random.Generator, known: SeenPoints) -> Point:
    """Draws one of the remaining points by its number, once most have been tried."""
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
