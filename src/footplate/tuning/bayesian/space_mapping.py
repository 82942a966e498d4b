"""Maps rows of one space to another by parameter names.

Bounds may have moved, values come and gone: what the earlier space doesn't have goes to its nearest
place. Parameters that it had and this one hasn't stand in their middle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate.domain.studies.parameters import CategoricalParameter, DiscreteParameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.studies.parameters import (
        DoubleParameter,
        IntegerParameter,
        Parameter,
        Value,
    )
    from footplate.tuning.axes import Axis, Floats
    from footplate.tuning.encoding import Encoding

    Column = Callable[[Floats], Floats]

_NODES = 257
"""Positions between these are interpolated: a prior needn't be exact."""


class SpaceMapping:
    def __init__(self, here: Encoding, there: Encoding) -> None:
        self._there = there
        self._sources = [_sources(here, there, slot) for slot in range(there.width)]

    def rows(self, rows: Floats) -> Floats:
        """NaN where a slot isn't active, and for categories that the earlier space hadn't."""
        found = np.full((len(rows), self._there.width), np.nan)
        for slot, sources in enumerate(self._sources):
            for column, translate in sources:
                empty = np.isnan(found[:, slot]) & ~np.isnan(rows[:, column])
                found[empty, slot] = translate(rows[empty, column])
        plain = ~(self._there.categorical | self._there.conditional)
        found[:, plain] = np.nan_to_num(found[:, plain], nan=0.5)
        return found


def _sources(here: Encoding, there: Encoding, slot: int) -> list[tuple[int, Column]]:
    """The columns of this space that mean the slot of the earlier one."""
    wanted = there.space.slots[slot].parameter
    return [
        (column, _translator(here.axes[column], there.axes[slot], wanted))
        for column, candidate in enumerate(here.space.slots)
        if candidate.parameter.name == wanted.name
        and bool(here.axes[column].categories) == bool(there.axes[slot].categories)
    ]


def _translator(here: Axis, there: Axis, wanted: Parameter) -> Column:
    if here.categories:
        values = [here.value(float(place)) for place in range(here.categories)]
        table = np.array([there.position(v) if wanted.has(v) else np.nan for v in values])
        return lambda column: table[column.astype(np.int64)]
    nodes = np.linspace(0.0, 1.0, _NODES)
    values = [_within(wanted, here.value(float(node))) for node in nodes]
    meant = [there.position(value) for value in values]
    return lambda column: np.interp(column, nodes, meant)


def _within(parameter: Parameter, value: Value) -> Value:
    """The nearest that lies in its bounds; between them it needn't be one of its values."""
    if isinstance(parameter, CategoricalParameter) or isinstance(value, str):
        return value
    ends = parameter.values if isinstance(parameter, DiscreteParameter) else _ends(parameter)
    return min(max(value, ends[0]), ends[-1])


def _ends(parameter: DoubleParameter | IntegerParameter) -> tuple[float, float]:
    return parameter.low, parameter.high
