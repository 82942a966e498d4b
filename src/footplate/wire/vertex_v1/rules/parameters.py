"""Rules for parameters, their values and their defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import assert_never

from footplate.domain.errors import Violation
from footplate.domain.hyperparameters import (
    check_category_lengths,
    check_discrete_values,
    check_parameter_names,
    check_range,
)
from footplate.wire.json_model import parsed_items
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.enums import ScaleType
from footplate.wire.vertex_v1.rules.conditions import Conditions
from footplate.wire.vertex_v1.study_models import (
    CategoricalValueSpec,
    DiscreteValueSpec,
    DoubleValueSpec,
    IntegerValueSpec,
    ParameterSpec,
    ValueSpec,
)


def check_default(
    spec: ValueSpec, at: str, clouded: Callable[[str], bool], *, allowed: bool
) -> Iterator[Violation]:
    """Yields faults of a default, which must be one of the values; tuning jobs allow none."""
    if spec.default_value is None:
        return
    field, said = f"{at}.defaultValue", f"{describe(spec.default_value)} given"
    if not allowed:
        where = "only in studies of Vizier, not in tuning jobs"
        yield Violation(field, f"{said}; allowed: {where}")
    elif not clouded(at) and (wanted := _wanted(spec)):
        yield Violation(field, f"{said}; allowed: {wanted}")


def _wanted(spec: ValueSpec) -> str:
    """Returns what the default is allowed to be; empty: it is allowed."""
    match spec:
        case DoubleValueSpec() | IntegerValueSpec():
            low, high = spec.min_value or 0, spec.max_value or 0
            return "" if low <= (spec.default_value or 0) <= high else f"{low:g} to {high:g}"
        case CategoricalValueSpec():
            categories = spec.values or []
            return "" if spec.default_value in categories else f"one of {describe(categories)}"
        case DiscreteValueSpec():
            numbers = spec.values or []
            return "" if spec.default_value in numbers else f"one of {describe(numbers)}"
        case _:
            assert_never(spec)


MIN_STEP = 1e-10
"""Between two discrete values; nearer ones are the same."""
_KINDS = ("doubleValueSpec", "integerValueSpec", "categoricalValueSpec", "discreteValueSpec")
_LOG_SCALES = (ScaleType.UNIT_LOG_SCALE, ScaleType.UNIT_REVERSE_LOG_SCALE)


def check_parameters(
    parameters: Sequence[ParameterSpec],
    at: str,
    clouded: Callable[[str], bool],
    *,
    grid: bool,
    defaults: bool = False,
) -> Iterator[Violation]:
    """Yields faults of parameters.

    ``grid``: every point is tried, so ranges of real numbers aren't allowed. ``defaults``: default
    values are allowed, as in studies without jobs.
    """
    for index, parameter in enumerate(parameters):
        field = f"{at}[{index}]"
        yield from _check_parameter(parameter, field, clouded, grid=grid, defaults=defaults)


def _check_parameter(
    parameter: ParameterSpec,
    at: str,
    clouded: Callable[[str], bool],
    *,
    grid: bool,
    defaults: bool,
) -> Iterator[Violation]:
    named = [(f"{at}.parameterId", parameter.parameter_id or "")]
    yield from check_parameter_names(named, for_programs=not defaults)
    yield from _check_kind(parameter, at, clouded)
    for name, spec in _specs(parameter).items():
        yield from check_default(spec, f"{at}.{name}", clouded, allowed=defaults)
    if grid and parameter.double_value_spec is not None:
        allowed = "integer, categorical and discrete parameters"
        said = f"given with GRID_SEARCH; allowed: {allowed}"
        yield Violation(f"{at}.doubleValueSpec", said)
    conditions = Conditions(parameter, at, clouded)
    for index, child in enumerate(parameter.conditional_parameter_specs or ()):
        field = f"{at}.conditionalParameterSpecs[{index}]"
        yield from conditions.check(child, field)
        if child.parameter_spec is None:
            yield Violation(
                f"{field}.parameterSpec", "required: the parameter that depends on this one"
            )
        else:
            below = f"{field}.parameterSpec"
            yield from _check_parameter(
                child.parameter_spec, below, clouded, grid=grid, defaults=defaults
            )


def _check_kind(
    parameter: ParameterSpec, at: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    specs = _specs(parameter)
    unknown = any(clouded(f"{at}.{name}") for name in _KINDS)
    if len(specs) > 1 or not (specs or unknown):
        said = " and ".join(specs) or "none"
        yield Violation(at, f"{said} given; allowed: exactly one of {', '.join(_KINDS)}")
    scale = parameter.scale_type
    if scale and parameter.categorical_value_spec is not None:
        said = f"{scale.name} given for a categorical parameter; allowed: only with numbers"
        yield Violation(f"{at}.scaleType", said)
    log_scale = scale.name if scale in _LOG_SCALES else ""
    for name, spec in specs.items():
        yield from _check_values(spec, f"{at}.{name}", log_scale, clouded)


def _specs(parameter: ParameterSpec) -> dict[str, ValueSpec]:
    """Returns the specs of values that are given, by field."""
    specs = (
        parameter.double_value_spec,
        parameter.integer_value_spec,
        parameter.categorical_value_spec,
        parameter.discrete_value_spec,
    )
    return {name: spec for name, spec in zip(_KINDS, specs, strict=True) if spec is not None}


def _check_values(
    spec: ValueSpec, at: str, log_scale: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    field = f"{at}.values"
    match spec:
        case CategoricalValueSpec():
            if not spec.values:
                yield Violation(field, "required: at least one category")
            categories = parsed_items(spec.values or (), field, clouded)
            yield from check_category_lengths(categories, field)
        case DiscreteValueSpec():
            values = parsed_items(spec.values or (), field, clouded)
            yield from check_discrete_values(
                values, field, least_step=MIN_STEP, log_scale=log_scale
            )
        case DoubleValueSpec() | IntegerValueSpec():
            if not (clouded(f"{at}.minValue") or clouded(f"{at}.maxValue")):
                yield from _check_bounds(spec, at, log_scale)
        case _:
            assert_never(spec)


def _check_bounds(
    spec: DoubleValueSpec | IntegerValueSpec, at: str, log_scale: str
) -> Iterator[Violation]:
    """Yields faults of bounds; one missing bound is 0, but two missing ones are a mistake."""
    if spec.min_value is None and spec.max_value is None:
        yield Violation(at, "neither minValue nor maxValue given; allowed: both")
        return
    low, high = spec.min_value or 0, spec.max_value or 0
    fields = f"{at}.minValue", f"{at}.maxValue"
    integral = isinstance(spec, IntegerValueSpec)
    yield from check_range(low, high, *fields, integral=integral, log_scale=log_scale)
