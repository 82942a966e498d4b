"""Rules for default values of parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.study_models import (
    CategoricalValueSpec,
    DiscreteValueSpec,
    DoubleValueSpec,
    IntegerValueSpec,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.wire.vertex_v1.study_models import ValueSpec


def check_default(
    spec: ValueSpec, at: str, clouded: Callable[[str], bool], *, allowed: bool
) -> Iterator[Violation]:
    """Tuning jobs have none; elsewhere it is one of the parameter's own values."""
    if spec.default_value is None:
        return
    field, said = f"{at}.defaultValue", f"{describe(spec.default_value)} given"
    if not allowed:
        where = "only in studies of Vizier, not in tuning jobs"
        yield Violation(field, f"{said}; allowed: {where}")
    elif not clouded(at) and (wanted := _wanted(spec)):
        yield Violation(field, f"{said}; allowed: {wanted}")


def _wanted(spec: ValueSpec) -> str:
    """What the default should be; empty: it is."""
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
