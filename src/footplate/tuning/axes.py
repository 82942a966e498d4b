"""Maps parameters to axes from 0 to 1, and back.

Source of the scales: ScaleType of both APIs. On a reverse log axis, x stands where low + high - x
stands on the log axis, seen from the other end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Scale,
    Value,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_TINY = 1e-300
"""Halves of the smallest numbers aren't exact; those of others are, and don't overflow."""
_SNAPPED = 2**20
"""Integers of more values than this count as an axis without steps."""
_DIGITS = 12
_APART = 1e-9
"""So far from its place on the axis a number may lie so that it is 0.01, and no 0.0100000000002."""


class Axis(Protocol):
    """An axis for the values of one parameter.

    Positions lie in 0..1; the position of a category is its index.
    """

    categories: int
    """How many there are; 0: a number."""
    steps: int
    """How many positions there are, where the axis isn't continuous; 0: it is."""

    def positions(self, values: Sequence[Value]) -> Floats: ...

    def position(self, value: Value) -> float:
        return float(self.positions([value])[0])

    def value(self, position: float) -> Value: ...

    def snap(self, positions: Floats) -> Floats:
        """Returns the nearest positions that belong to values."""
        ...

    def spread(self, units: Floats) -> Floats:
        """Converts uniform numbers from 0 to 1 to positions; each value gets an equal share."""
        ...


def axis(parameter: Parameter) -> Axis:
    match parameter:
        case DoubleParameter():
            return _Range(parameter)
        case IntegerParameter():
            return _Whole(parameter)
        case DiscreteParameter():
            return _Steps(parameter)
        case CategoricalParameter():
            return _Categories(parameter)


class _Range(Axis):
    categories = 0
    steps = 0

    def __init__(self, parameter: DoubleParameter) -> None:
        self._low, self._high = parameter.low, parameter.high
        self._scale = _effective(parameter)
        self._length = 0.0 if parameter.low == parameter.high else 1.0

    def positions(self, values: Sequence[Value]) -> Floats:
        return _scaled(np.array(values, np.float64), self._low, self._high, self._scale)

    def value(self, position: float) -> float:
        found = float(_unscaled(np.float64(position), self._low, self._high, self._scale))
        short = min(max(float(f"{found:.{_DIGITS}g}"), self._low), self._high)
        if abs(self.position(short) - position) <= _APART:
            return short
        return min(max(found, self._low), self._high)

    def snap(self, positions: Floats) -> Floats:
        return np.clip(positions, 0.0, self._length)

    def spread(self, units: Floats) -> Floats:
        return units * self._length


class _Whole(Axis):
    """An axis of whole numbers; each number owns the part of the axis that is rounded to it.

    Without logarithms the numbers are counted from the lowest one, so that the largest stay exact.
    """

    categories = 0

    def __init__(self, parameter: IntegerParameter) -> None:
        self._scale = _effective(parameter)
        self._origin = 0 if self._scale.logarithmic else parameter.low
        self._low, self._high = parameter.low - self._origin, parameter.high - self._origin
        self.steps = parameter.count if parameter.count <= _SNAPPED else 0

    def positions(self, values: Sequence[Value]) -> Floats:
        counted = [int(value) - self._origin for value in values]
        return self._scaled(np.array(counted, np.float64))

    def value(self, position: float) -> int:
        found = float(_unscaled(np.float64(position), self._low, self._high, self._scale))
        return min(max(round(found), self._low), self._high) + self._origin

    def snap(self, positions: Floats) -> Floats:
        values = np.rint(_unscaled(positions, self._low, self._high, self._scale))
        return self._scaled(np.clip(values, self._low, self._high))

    def spread(self, units: Floats) -> Floats:
        if self._low == self._high:
            return np.zeros_like(units)
        values = np.rint(_unscaled(units, self._low - 0.5, self._high + 0.5, self._scale))
        return self._scaled(np.clip(values, self._low, self._high))

    def _scaled(self, values: Floats | np.float64) -> Floats:
        return _scaled(values, self._low, self._high, self._scale)


class _Steps(Axis):
    """An axis of given values: on their scale, or evenly if no scale is given."""

    categories = 0

    def __init__(self, parameter: DiscreteParameter) -> None:
        self._values = parameter.values
        self.steps = len(parameter.values)
        if parameter.scale is Scale.NONE or len(parameter.values) == 1:
            self._positions = np.linspace(0.0, 1.0, len(parameter.values))
        else:
            values = np.array(parameter.values)
            self._positions = _scaled(values, values[0], values[-1], parameter.scale)
        self._middles = (self._positions[1:] + self._positions[:-1]) / 2

    def positions(self, values: Sequence[Value]) -> Floats:
        """Returns the positions of the axis's values that are nearest to ``values``."""
        with np.errstate(over="ignore"):  # what is that far isn't the nearest
            apart = np.array(values, np.float64)[:, None] - np.array(self._values)
        found: Floats = self._positions[np.abs(apart).argmin(axis=1)]
        return found

    def value(self, position: float) -> float:
        return self._values[int(np.searchsorted(self._middles, position))]

    def snap(self, positions: Floats) -> Floats:
        return self._positions[np.searchsorted(self._middles, positions)]

    def spread(self, units: Floats) -> Floats:
        return self._positions[_shares(units, self.steps)]


class _Categories(Axis):
    steps = 0

    def __init__(self, parameter: CategoricalParameter) -> None:
        self._parameter, self._values = parameter, parameter.values
        self.categories = len(parameter.values)

    def positions(self, values: Sequence[Value]) -> Floats:
        return np.array([self._parameter.index_of(value) for value in values], np.float64)

    def value(self, position: float) -> str:
        return self._values[int(position)]

    def snap(self, positions: Floats) -> Floats:
        return np.clip(np.rint(positions), 0, self.categories - 1)

    def spread(self, units: Floats) -> Floats:
        return _shares(units, self.categories).astype(np.float64)


def _effective(parameter: DoubleParameter | IntegerParameter) -> Scale:
    """Returns the scale; a range whose ends have the same logarithm is linear."""
    if parameter.scale.logarithmic and np.log(parameter.low) == np.log(parameter.high):
        return Scale.LINEAR
    return parameter.scale


def _shares(units: Floats, count: int) -> NDArray[np.int64]:
    """Maps units to integers from 0 to ``count`` - 1, each for an equal part of the unit range."""
    return np.minimum((units * count).astype(np.int64), count - 1)


def _scaled(values: Floats | np.float64, low: float, high: float, scale: Scale) -> Floats:
    if low == high:
        return np.full_like(values, 0.0, dtype=np.float64)
    if scale is Scale.REVERSE_LOG:
        return 1.0 - _scaled(_mirrored(values, low, high), low, high, Scale.LOG)
    if scale is Scale.LOG:
        return np.asarray((np.log(values) - np.log(low)) / (np.log(high) - np.log(low)))
    if high / 2 - low / 2 < _TINY:
        return np.asarray((values - low) / (high - low))
    return np.asarray(values / 2 - low / 2) / (high / 2 - low / 2)


def _unscaled(positions: Floats | np.float64, low: float, high: float, scale: Scale) -> Floats:
    if scale is Scale.REVERSE_LOG:
        return _mirrored(_unscaled(1.0 - positions, low, high, Scale.LOG), low, high)
    if scale is Scale.LOG:
        return np.asarray(np.exp(np.log(low) * (1.0 - positions) + np.log(high) * positions))
    return np.asarray(low * (1.0 - positions) + high * positions)


def _mirrored(values: Floats | np.float64, low: float, high: float) -> Floats:
    """Mirrors values in a range; keeps them within it despite rounding."""
    return np.clip(low - values + high, low, high)
