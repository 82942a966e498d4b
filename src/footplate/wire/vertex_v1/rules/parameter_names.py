"""Rules for parameter names: no duplicates in one trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe
from footplate.wire.vertex_v1.rules.conditions import Conditions
from footplate.wire.vertex_v1.study_models import ParameterSpec

_ANY = frozenset({None})
"""The condition of a parameter without a parent: it is always there."""


def names_in(parameters: Sequence[ParameterSpec]) -> Iterator[str]:
    """Yields the name of each parameter, conditional ones included, as often as it is given."""
    return (parameter.parameter_id or "" for parameter in _all(parameters))


def categories_in(parameters: Sequence[ParameterSpec]) -> Iterator[int]:
    """Yields the number of categories of each parameter, conditional ones included."""
    for parameter in _all(parameters):
        categories = parameter.categorical_value_spec
        yield len((categories and categories.values) or ())


def _all(parameters: Sequence[ParameterSpec]) -> Iterator[ParameterSpec]:
    for parameter in parameters:
        yield parameter
        children = parameter.conditional_parameter_specs or ()
        yield from _all([c.parameter_spec for c in children if c.parameter_spec is not None])


def check_parameter_names(parameters: Sequence[ParameterSpec], at: str) -> Iterator[Violation]:
    """Yields repeated names; a name may recur only below different values of the same parent."""
    clashes: list[Violation] = []
    siblings = [(p, f"{at}[{index}]", _ANY) for index, p in enumerate(parameters)]
    _collect(siblings, clashes)
    yield from clashes


def _collect(
    siblings: Sequence[tuple[ParameterSpec, str, frozenset[object]]], clashes: list[Violation]
) -> dict[str, str]:
    """Returns the names of parameters and all below them, with fields; collects clashes.

    Siblings come with the values of their parent for which they are active.
    """
    fields: dict[str, str] = {}
    taken: dict[str, set[object]] = {}
    for parameter, at, values in siblings:
        below = _collect(_children(parameter, at), clashes)
        own, field = parameter.parameter_id or "", f"{at}.parameterId"
        if own and own in below:
            clashes.append(_twice(own, below[own]))
        for name, place in {**below, own: field}.items():
            if name and not values.isdisjoint(taken.setdefault(name, set())):
                clashes.append(_twice(name, place))
            taken.setdefault(name, set()).update(values)
            fields.setdefault(name, place)
    return fields


def _children(
    parameter: ParameterSpec, at: str
) -> list[tuple[ParameterSpec, str, frozenset[object]]]:
    conditions = Conditions(parameter, at, lambda _: False)
    return [
        (
            child.parameter_spec,
            f"{at}.conditionalParameterSpecs[{index}].parameterSpec",
            conditions.values(child),
        )
        for index, child in enumerate(parameter.conditional_parameter_specs or ())
        if child.parameter_spec is not None
    ]


def _twice(name: str, field: str) -> Violation:
    allowed = (
        "one parameter with this name, or several for different values of one parent parameter"
    )
    return Violation(field, f"{describe(name)} given twice; allowed: {allowed}")
