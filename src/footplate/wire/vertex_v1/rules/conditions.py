"""Rules for conditional parameters."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from footplate.domain.errors import Violation
from footplate.domain.studies.parameters import Value
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.study_models import (
    ConditionalParameterSpec,
    IntegerValueSpec,
    ParameterSpec,
)

MATCH_EPSILON = 1e-10
"""How far a discrete value may lie from the parent's to be the same."""
MAX_VALUES = 1000
_SPECS = ("discreteValueSpec", "integerValueSpec", "categoricalValueSpec")
_KINDS = ("parentDiscreteValues", "parentIntValues", "parentCategoricalValues")


class Conditions:
    """The conditions on which the children of a parameter may depend; made once for all children.

    ``at`` is the parent's path; ``clouded`` returns whether the schema has refused a field.
    """

    def __init__(self, parent: ParameterSpec, at: str, clouded: Callable[[str], bool]) -> None:
        self._parent = parent
        self._at = at
        self._clouded = clouded
        self._wanted = _wanted(parent)

    def check(self, child: ConditionalParameterSpec, at: str) -> Iterator[Violation]:
        given = [name for name, values in _given(child).items() if values is not None]
        if self._wanted is None:
            if self._parent.double_value_spec is not None:
                said = "given below a parameter with doubleValueSpec"
                allowed = "only below integer, discrete and categorical parameters"
                yield Violation(at, f"{said}; allowed: {allowed}")
        elif given != [self._wanted]:
            if not given and any(self._clouded(f"{at}.{name}") for name in _KINDS):
                return
            said = " and ".join(given) or "no condition"
            allowed = f"{self._wanted}, which fits the type of the parent parameter"
            yield Violation(at, f"{said} given; allowed: {allowed}")
        else:
            yield from self._check_values(child, f"{at}.{self._wanted}.values")

    def values(self, child: ConditionalParameterSpec) -> frozenset[object]:
        """Returns the values of a child's condition; equal values have the same form."""
        return frozenset(self.feasible(child))

    def feasible(self, child: ConditionalParameterSpec) -> tuple[Value, ...]:
        """Returns the parent's own values that a child's condition means, each once.

        Values that the parent can't have are left out.
        """
        found = (self._feasible(value) for value in self._values_of(child)[:MAX_VALUES])
        return tuple(dict.fromkeys(value for value in found if value is not None))

    def _values_of(self, child: ConditionalParameterSpec) -> Sequence[float | str]:
        return (_given(child)[self._wanted] if self._wanted is not None else None) or ()

    def _check_values(self, child: ConditionalParameterSpec, field: str) -> Iterator[Violation]:
        values = self._values_of(child)
        if not values:
            yield Violation(field, "required: at least one value of the parent parameter")
        if len(values) > MAX_VALUES:
            yield Violation(field, f"{len(values)} given; allowed: at most {MAX_VALUES}")
        if any(self._clouded(f"{self._at}.{name}") for name in _SPECS):
            return
        for index, value in enumerate(values[:MAX_VALUES]):
            if self._feasible(value) is None:
                said = f"{describe(value)} given; allowed: {self._allowed}"
                yield Violation(f"{field}[{index}]", said)

    def _feasible(self, value: Value) -> Value | None:
        """Returns the parent's own value that a condition's value means; None: it has none."""
        parent = self._parent
        if parent.discrete_value_spec is not None:
            return _nearest(float(value), parent.discrete_value_spec.values or [])
        if parent.integer_value_spec is not None:
            low, high = _bounds(parent.integer_value_spec)
            return value if low <= int(value) <= high else None
        return value if value in self._categories else None

    @cached_property
    def _categories(self) -> frozenset[str]:
        spec = self._parent.categorical_value_spec
        return frozenset((spec and spec.values) or ())

    @cached_property
    def _allowed(self) -> str:
        parent = self._parent
        if parent.integer_value_spec is not None:
            low, high = _bounds(parent.integer_value_spec)
            return f"{low} to {high}, the bounds of the parent parameter"
        discrete, categories = parent.discrete_value_spec, parent.categorical_value_spec
        values: Sequence[float | str] = (discrete and discrete.values) or ()
        values = (categories and categories.values) or values
        return f"the values of the parent parameter, {describe(list(values))}"


def _given(child: ConditionalParameterSpec) -> dict[str, Sequence[float | str] | None]:
    """Returns a child's conditions by field; None: the field isn't given."""
    conditions = (
        child.parent_discrete_values,
        child.parent_int_values,
        child.parent_categorical_values,
    )
    return {
        name: None if condition is None else condition.values or ()
        for name, condition in zip(_KINDS, conditions, strict=True)
    }


def _wanted(parent: ParameterSpec) -> str | None:
    """Returns the condition's field that suits the parent's type; None: no field does."""
    specs = (
        parent.discrete_value_spec,
        parent.integer_value_spec,
        parent.categorical_value_spec,
    )
    return next((name for name, s in zip(_KINDS, specs, strict=True) if s is not None), None)


def _nearest(value: float, values: Sequence[float]) -> float | None:
    """Returns the value in ``values`` that is near enough; None: there is none.

    ``values`` increase; another rule reports those that don't.
    """
    place = bisect_left(values, value - MATCH_EPSILON)
    near = values[place : place + 1]
    return near[0] if near and abs(near[0] - value) <= MATCH_EPSILON else None


def _bounds(spec: IntegerValueSpec) -> tuple[int, int]:
    return spec.min_value or 0, spec.max_value or 0
