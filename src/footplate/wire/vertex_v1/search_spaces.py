"""Converts the parameters of an aiplatform v1 study."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.wire.vertex_v1.enums import ScaleType
from footplate.wire.vertex_v1.rules.conditions import Conditions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.studies.parameters import Parameter
    from footplate.wire.vertex_v1.study_models import ParameterSpec

_SCALES = MappingProxyType(
    {
        ScaleType.SCALE_TYPE_UNSPECIFIED: Scale.NONE,
        ScaleType.UNIT_LINEAR_SCALE: Scale.LINEAR,
        ScaleType.UNIT_LOG_SCALE: Scale.LOG,
        ScaleType.UNIT_REVERSE_LOG_SCALE: Scale.REVERSE_LOG,
    }
)


def search_space(parameters: Sequence[ParameterSpec]) -> SearchSpace:
    """Of parameters in which nothing is wrong; raises ValueError for others."""
    return SearchSpace(tuple(_parameter(parameter) for parameter in parameters))


def _parameter(given: ParameterSpec) -> Parameter:
    """An absent bound is 0; a category that is given twice is one."""
    name = given.parameter_id or ""
    scale = _SCALES[given.scale_type or ScaleType.SCALE_TYPE_UNSPECIFIED]
    if (double := given.double_value_spec) is not None:
        low, high = double.min_value or 0.0, double.max_value or 0.0
        return DoubleParameter(name, low, high, scale, double.default_value)
    branches = tuple(_branches(given))
    if (integer := given.integer_value_spec) is not None:
        bounds = integer.min_value or 0, integer.max_value or 0
        return IntegerParameter(name, *bounds, scale, integer.default_value, branches)
    if (discrete := given.discrete_value_spec) is not None:
        values = tuple(discrete.values or ())
        return DiscreteParameter(name, values, scale, discrete.default_value, branches)
    if (categories := given.categorical_value_spec) is not None:
        texts = tuple(dict.fromkeys(categories.values or ()))
        return CategoricalParameter(name, texts, categories.default_value, branches)
    raise ValueError(f"{name}: no kind of values given")


def _branches(given: ParameterSpec) -> Iterator[Branch]:
    conditions = Conditions(given, "", lambda _: False)
    for child in given.conditional_parameter_specs or ():
        if child.parameter_spec is not None:
            yield Branch(conditions.feasible(child), _parameter(child.parameter_spec))
