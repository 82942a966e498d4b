"""Converts users' points to values of the space."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from footplate.domain.studies.parameters import (
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.studies.parameters import Parameter, Value
    from footplate.domain.studies.space import Point, SearchSpace

MATCH_EPSILON = 1e-10
"""How far a number may lie from a discrete value to be the same. Source: DiscreteValueCondition."""


def in_own_values(space: SearchSpace, given: Point) -> Point:
    """The point with each value as its parameter has it: an integer given as 3.0 becomes 3.

    What isn't a value of its parameter, or belongs to none that is active, stays as it is.
    """
    made = dict(given)
    values: list[Value | None] = []
    for slot in space.slots:
        active = slot.parent is None or values[slot.parent] in slot.values
        value = made.get(slot.parameter.name) if active else None
        values.append(None if value is None else _own(slot.parameter, value))
        if values[-1] is not None:
            made[slot.parameter.name] = values[-1]
    return made


def _own(parameter: Parameter, value: Value) -> Value:
    if isinstance(value, str):
        return value
    match parameter:
        case DoubleParameter():
            return float(value)
        case IntegerParameter():
            return int(value) if float(value).is_integer() else value
        case DiscreteParameter():
            return _nearest(value, parameter.values)
        case _:
            return value


def _nearest(value: float, values: Sequence[float]) -> float:
    """``values`` increase; without one that is near enough, the value itself."""
    place = bisect_left(values, value - MATCH_EPSILON)
    near = values[place : place + 1]
    return near[0] if near and abs(near[0] - value) <= MATCH_EPSILON else value
