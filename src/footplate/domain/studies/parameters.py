"""The parameters of a search space.

What a request may ask for is checked at submit (:mod:`footplate.domain.hyperparameters`); here
bounds hold already, and what breaks them is a mistake of the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TypeAlias, TypeGuard

Value: TypeAlias = float | int | str


class Scale(Enum):
    """The scale of values between the bounds. Source: ScaleType of both dialects."""

    NONE = "none"
    """Linear for ranges; discrete values lie evenly, whatever their distances."""
    LINEAR = "linear"
    LOG = "log"
    """Most of the axis belongs to values near the lower bound."""
    REVERSE_LOG = "reverse log"
    """Most of the axis belongs to values near the upper bound."""

    @property
    def logarithmic(self) -> bool:
        return self in (Scale.LOG, Scale.REVERSE_LOG)


@dataclass(frozen=True)
class Branch:
    """A parameter that is active only for some values of its parent parameter."""

    values: tuple[Value, ...]
    parameter: Parameter


@dataclass(frozen=True)
class DoubleParameter:
    name: str
    low: float
    high: float
    scale: Scale = Scale.NONE
    default: float | None = None

    def __post_init__(self) -> None:
        _check_range(self.name, self.low, self.high, self.scale)
        _check_default(self, self.default)

    @property
    def branches(self) -> tuple[Branch, ...]:
        return ()

    @property
    def count(self) -> int | None:
        """Returns the number of values; None: infinitely many."""
        return 1 if self.low == self.high else None

    def has(self, value: object) -> bool:
        return _is_number(value) and self.low <= value <= self.high


@dataclass(frozen=True)
class IntegerParameter:
    name: str
    low: int
    high: int
    scale: Scale = Scale.NONE
    default: int | None = None
    branches: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        _check_range(self.name, self.low, self.high, self.scale)
        _check_default(self, self.default)
        _check_branches(self)

    @property
    def count(self) -> int:
        return self.high - self.low + 1

    def has(self, value: object) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return self.low <= value <= self.high

    def value_at(self, index: int) -> int:
        return self.low + index

    def index_of(self, value: Value) -> int:
        return int(value) - self.low


@dataclass(frozen=True)
class DiscreteParameter:
    """A parameter with a list of numbers, which increase."""

    name: str
    values: tuple[float, ...]
    scale: Scale = Scale.NONE
    default: float | None = None
    branches: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        if not self.values or any(
            a >= b for a, b in zip(self.values, self.values[1:], strict=False)
        ):
            raise ValueError(
                f"parameter {self.name}: {self.values} given; allowed: increasing numbers"
            )
        _check_range(self.name, self.values[0], self.values[-1], self.scale)
        _check_default(self, self.default)
        _check_branches(self)

    @property
    def count(self) -> int:
        return len(self.values)

    def has(self, value: object) -> bool:
        return _is_number(value) and value in self.values

    def value_at(self, index: int) -> float:
        return self.values[index]

    def index_of(self, value: Value) -> int:
        return self.values.index(float(value))


@dataclass(frozen=True)
class CategoricalParameter:
    name: str
    values: tuple[str, ...]
    default: str | None = None
    branches: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        if not self.values or len(set(self.values)) < len(self.values):
            raise ValueError(
                f"parameter {self.name}: {self.values} given; allowed: different texts"
            )
        _check_default(self, self.default)
        _check_branches(self)

    @property
    def count(self) -> int:
        return len(self.values)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {value: place for place, value in enumerate(self.values)}

    def has(self, value: object) -> bool:
        return isinstance(value, str) and value in self._places

    def value_at(self, index: int) -> str:
        return self.values[index]

    def index_of(self, value: Value) -> int:
        return self._places[str(value)]


CountableParameter: TypeAlias = IntegerParameter | DiscreteParameter | CategoricalParameter
Parameter: TypeAlias = DoubleParameter | CountableParameter


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_range(name: str, low: float, high: float, scale: Scale) -> None:
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(
            f"parameter {name}: {low} to {high} given; allowed: finite bounds, the lower one first"
        )
    if scale.logarithmic and low <= 0:
        raise ValueError(
            f"parameter {name}: lower bound {low} given; allowed with {scale.value}: more than 0"
        )


def _check_default(parameter: Parameter, default: Value | None) -> None:
    if default is not None and not parameter.has(default):
        raise ValueError(
            f"parameter {parameter.name}: default {default!r} given; allowed: one of its values"
        )


def _check_branches(parameter: CountableParameter) -> None:
    for branch in parameter.branches:
        unknown = [value for value in branch.values if not parameter.has(value)]
        if unknown or not branch.values:
            at = f"parameter {branch.parameter.name}: parent values {branch.values} given"
            raise ValueError(f"{at}; allowed: values of the parent parameter {parameter.name}")
