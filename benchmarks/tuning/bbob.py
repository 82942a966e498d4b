"""The noiseless functions of BBOB, in IOHexperimenter's implementation: the seed is the instance.

Each is moved by its instance, and most are rotated. What the tuner has for rough functions was
chosen by instances 1 to 3.

Source: Hansen et al., "Real-Parameter Black-Box Optimization Benchmarking 2009: Noiseless Functions
Definitions", 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from problems import Problem

from footplate.domain.studies.parameters import DoubleParameter
from footplate.domain.studies.space import SearchSpace

if TYPE_CHECKING:
    from footplate.domain.studies.space import Point

SUITE = "bbob"
WIDTHS = (2, 5, 10)
NAMES = {f"f{f:02d}-{width}d": (f, width) for f in range(1, 25) for width in WIDTHS}
_REACH = 5.0


def problem(name: str, seed: int) -> Problem:
    """``name``: of :data:`NAMES`; the range of each parameter is BBOB's."""
    import ioh

    function, width = NAMES[name]
    posed = ioh.get_problem(function, seed, width, ioh.ProblemClass.BBOB)
    space = SearchSpace(tuple(DoubleParameter(f"x{i}", -_REACH, _REACH) for i in range(width)))

    def loss(point: Point) -> float:
        return float(posed([float(point[f"x{i}"]) for i in range(width)]))

    return Problem(SUITE, name, space, loss, float(posed.optimum.y))
