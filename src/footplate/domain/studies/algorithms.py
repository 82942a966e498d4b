"""Which algorithms can search which spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.formatting import quoted
from footplate.domain.hyperparameters import MAX_MODELLED_CATEGORIES
from footplate.domain.studies.parameters import CategoricalParameter, DoubleParameter
from footplate.domain.studies.study import Algorithm

if TYPE_CHECKING:
    from footplate.domain.studies.space import SearchSpace


def unsuited(space: SearchSpace, algorithm: Algorithm) -> str:
    """Why the algorithm can't search the space; empty: it can."""
    parameters = [slot.parameter for slot in space.slots]
    if algorithm is Algorithm.GRID:
        real = [p.name for p in parameters if isinstance(p, DoubleParameter)]
        return f"allowed without DOUBLE parameters such as {quoted(real[0])}" if real else ""
    if algorithm is Algorithm.BAYESIAN:
        count = sum(p.count for p in parameters if isinstance(p, CategoricalParameter))
        if count > MAX_MODELLED_CATEGORIES:
            return f"allowed with at most {MAX_MODELLED_CATEGORIES} categorical values, not {count}"
    return ""
