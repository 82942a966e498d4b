"""Standard functions, each with its optimum moved by the seed.

Source: Finck et al., "Real-Parameter Black-Box Optimization Benchmarking", 2010; Surjanovic and
Bingham, "Virtual Library of Simulation Experiments".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from problems import Problem

from footplate.domain.studies.parameters import DoubleParameter
from footplate.domain.studies.space import SearchSpace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from footplate.domain.studies.space import Point

    Floats = NDArray[np.float64]
    Function = Callable[[Floats], float]


def sphere(z: Floats) -> float:
    return float(z @ z)


def ellipsoid(z: Floats) -> float:
    return float(10.0 ** (3.0 * np.arange(len(z)) / (len(z) - 1)) @ z**2)


def rosenbrock(z: Floats) -> float:
    x = z + 1.0
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum())


def rastrigin(z: Floats) -> float:
    return float(10.0 * len(z) + (z**2 - 10.0 * np.cos(2.0 * np.pi * z)).sum())


def ackley(z: Floats) -> float:
    near = -20.0 * np.exp(-0.2 * np.sqrt((z**2).mean()))
    return float(near - np.exp(np.cos(2.0 * np.pi * z).mean()) + 20.0 + np.e)


def levy(z: Floats) -> float:
    w = 1.0 + z / 4.0
    middle = (w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2)
    last = (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2)
    return float(np.sin(np.pi * w[0]) ** 2 + middle.sum() + last)


def griewank(z: Floats) -> float:
    places = np.sqrt(np.arange(1, len(z) + 1))
    return float((z**2).sum() / 4000.0 - np.prod(np.cos(z / places)) + 1.0)


def styblinski(z: Floats) -> float:
    x = z - 2.903534
    return float(0.5 * (x**4 - 16.0 * x**2 + 5.0 * x + 78.33233140754282).sum())


def branin(x: Floats) -> float:
    bend = x[1] - 5.1 / (4.0 * np.pi**2) * x[0] ** 2 + 5.0 / np.pi * x[0] - 6.0
    return float(bend**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(x[0]) + 10.0 - 0.397887)


_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann(x: Floats) -> float:
    weights = np.array([1.0, 1.2, 3.0, 3.2])
    return float(3.32237 - weights @ np.exp(-(_A * (x - _P) ** 2).sum(axis=1)))


CENTRED: dict[str, tuple[Function, int, float]] = {
    "sphere": (sphere, 5, 5.0),
    "ellipsoid": (ellipsoid, 6, 5.0),
    "rosenbrock": (rosenbrock, 4, 3.0),
    "rastrigin": (rastrigin, 3, 3.0),
    "ackley": (ackley, 5, 10.0),
    "levy": (levy, 6, 8.0),
    "griewank": (griewank, 5, 40.0),
    "styblinski": (styblinski, 4, 5.0),
}
"""Each with the number of its parameters, and how far the range goes to both sides."""
BOXED: dict[str, tuple[Function, tuple[tuple[float, float], ...]]] = {
    "branin": (branin, ((-5.0, 10.0), (0.0, 15.0))),
    "hartmann6": (hartmann, ((0.0, 1.0),) * 6),
}


def problems(seed: int) -> Iterator[Problem]:
    for name, (function, width, reach) in CENTRED.items():
        rng = np.random.default_rng([seed, len(name), width])
        at = rng.uniform(-0.6 * reach, 0.6 * reach, width)
        space = SearchSpace(tuple(DoubleParameter(f"x{i}", -reach, reach) for i in range(width)))
        yield Problem("functions", name, space, _Moved(function, at), 0.0)
    for name, (function, bounds) in BOXED.items():
        rng = np.random.default_rng([seed, len(name), len(bounds)])
        sizes = np.array([high - low for low, high in bounds])
        at = rng.uniform(-0.1, 0.1, len(bounds)) * sizes
        space = SearchSpace(tuple(DoubleParameter(f"x{i}", *b) for i, b in enumerate(bounds)))
        yield Problem("functions", name, space, _Moved(function, at), 0.0)


class _Moved:
    def __init__(self, function: Function, at: Floats) -> None:
        self._function, self._at = function, at

    def __call__(self, point: Point) -> float:
        x = np.array([float(point[f"x{i}"]) for i in range(len(self._at))])
        return self._function(x - self._at)
