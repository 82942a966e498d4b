"""Describes the values of a parameter in error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from footplate.domain.formatting import listed, quoted
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from footplate.domain.studies.parameters import Parameter, Value


def values_of(parameter: Parameter) -> str:
    """``0.1 to 1``, ``'adam', 'sgd'``."""
    match parameter:
        case DoubleParameter(low=low, high=high):
            return f"{low:.15g} to {high:.15g}"
        case IntegerParameter(low=low, high=high):
            return f"a whole number, {low} to {high}"
        case DiscreteParameter(values=numbers):
            return spelled(numbers)
        case CategoricalParameter(values=texts):
            return spelled(texts)
        case _:
            assert_never(parameter)


def spelled(values: Collection[Value]) -> str:
    return listed([quoted(v) if isinstance(v, str) else f"{v:.15g}" for v in values])
