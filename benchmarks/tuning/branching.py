"""Spaces whose best point lies in a branch that looks bad, and metrics that say little.

Both are synthetic, with a least loss of 0. The seed moves the optimum and picks the good branch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from problems import Problem

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DoubleParameter,
    IntegerParameter,
)
from footplate.domain.studies.space import SearchSpace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from footplate.domain.studies.parameters import Parameter
    from footplate.domain.studies.space import Point

    Floats = NDArray[np.float64]

BRANCHES, PLATEAUS = "branches", "plateaus"
_NOISE = 0.1


@dataclass(frozen=True)
class _Branches:
    """The good branch has the loss ``good`` of the distance from its optimum, the others 0.2 and
    more."""

    widths: Mapping[str, int]
    best: str
    at: Floats
    good: Callable[[float], float]

    def __call__(self, point: Point) -> float:
        name = str(point["family"])
        x = np.array([float(point[f"{name}{i}"]) for i in range(self.widths[name])])
        off = float(np.sqrt(((x - self.at[: len(x)]) ** 2).mean()))
        if name == self.best:
            return self.good(off)
        return 0.2 + 0.1 * list(self.widths).index(name) / len(self.widths) + 0.5 * off


@dataclass(frozen=True)
class _Shaped:
    """A loss of the distance from the optimum."""

    at: Floats
    shape: Callable[[float], float]

    def __call__(self, point: Point) -> float:
        x = np.array([float(value) for name, value in point.items() if name != "kind"])
        kind = 0.1 * (point.get("kind", "a") != "a")
        return self.shape(float(np.sqrt(((x - self.at) ** 2).mean())) + kind)


def problems(seed: int) -> Iterator[Problem]:
    rng = np.random.default_rng([seed, 23])
    at = rng.uniform(0.15, 0.85, 6)
    three, many = {"a": 1, "b": 3, "c": 5}, {f"f{i}": 1 + i % 3 for i in range(16)}
    hidden = sorted(three)[int(rng.integers(3))]
    yield _branching("plateau", three, _Branches(three, hidden, at, lambda off: _funnel(off, 0.25)))
    steep = _Branches(three, "c", at, lambda off: min(1.0, 3.0 * off))
    yield _branching("misleading", three, steep)
    chosen = f"f{int(rng.integers(16))}"
    yield _branching("families", many, _Branches(many, chosen, at, lambda off: 0.8 * off))
    yield _flat("steps", at, lambda off: float(np.floor(20.0 * off) / 20.0))
    yield _flat("funnel", at, lambda off: _funnel(off, 0.35))
    yield _flat("terraces", at, lambda off: float(np.round(4.0 * off) / 4.0 + 0.02 * off))
    yield _noisy(at, seed)


def _funnel(off: float, width: float) -> float:
    """The same far from the optimum, whatever the point."""
    return min(1.0, off / width)


def _branching(name: str, widths: Mapping[str, int], loss: _Branches) -> Problem:
    below = (
        Branch((family,), DoubleParameter(f"{family}{i}", 0.0, 1.0))
        for family, width in widths.items()
        for i in range(width)
    )
    space = SearchSpace((CategoricalParameter("family", tuple(widths), branches=tuple(below)),))
    return Problem(BRANCHES, name, space, loss, 0.0)


def _parameters() -> tuple[Parameter, ...]:
    numbers = tuple(DoubleParameter(f"x{i}", 0.0, 1.0) for i in range(3))
    return (*numbers, CategoricalParameter("kind", ("b", "c", "a")))


def _flat(name: str, at: Floats, shape: Callable[[float], float]) -> Problem:
    return Problem(PLATEAUS, name, SearchSpace(_parameters()), _Shaped(at[:3], shape), 0.0)


def _noisy(at: Floats, seed: int) -> Problem:
    """The noise of a point depends on the point and the seed alone: it is the same for all."""
    truth = _Shaped(np.floor(at[:3] * 20.0), lambda off: off / 10.0)
    numbers = tuple(IntegerParameter(f"x{i}", 0, 20) for i in range(3))
    space = SearchSpace((*numbers, CategoricalParameter("kind", ("b", "c", "a"))))

    def measured(point: Point) -> float:
        place = [int(point[f"x{i}"]) for i in range(3)]
        rng = np.random.default_rng([seed, 29, *place, ord(str(point["kind"]))])
        return truth(point) + _NOISE * float(rng.standard_normal())

    return Problem(PLATEAUS, "noise", space, measured, 0.0, truth)
