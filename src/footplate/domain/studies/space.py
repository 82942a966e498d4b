"""The search space of a study."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeAlias, assert_never, cast

from footplate.domain.formatting import listed, quoted, shortened
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    CountableParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Value,
)


def values_of(parameter: Parameter) -> str:
    """Formats the values that a parameter can have: ``0.1 to 1``, ``'adam', 'sgd'``."""
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


Point: TypeAlias = Mapping[str, Value]
"""A value for each parameter that is active there, and for no other."""


@dataclass(frozen=True)
class Slot:
    """A parameter at its place in the tree.

    Several branches may have parameters of the same name, but each of these has its own slot.
    """

    parameter: Parameter
    parent: int | None = None
    """The slot that it depends on, by its place in ``SearchSpace.slots``."""
    values: frozenset[Value] = frozenset()
    """The values of the parent for which it is active."""


@dataclass(frozen=True)
class SearchSpace:
    """A search space.

    ``parameters`` are the parameters that are always active; conditional ones are in their
    branches. Raises ValueError: two parameters of one name could be active at once, or there is
    none.
    """

    parameters: tuple[Parameter, ...]

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ValueError("a search space needs at least one parameter")
        _check_names(self.parameters)

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Returns all parameters, conditional ones included; parents precede their children."""
        found: list[Slot] = []
        for parameter in self.parameters:
            _collect(Slot(parameter), found)
        return tuple(found)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(slot.parameter.name for slot in self.slots)

    @cached_property
    def size(self) -> int | None:
        """Returns the number of points; None: infinitely many."""
        return count_points(self.parameters)

    def point_at(self, index: int) -> Point:
        """Returns the point number ``index`` of a finite space.

        The order is that of nested loops: the first parameter changes last, each parameter runs
        through its values as they were given (integers upwards), and its branches run within each
        value.
        """
        return nth_point(self.parameters, index)

    def active_values(self, point: Point) -> tuple[Value | None, ...]:
        """Returns the point's value for each slot; None: the slot isn't active at this point."""
        return tuple(None if v is _INACTIVE else cast("Value", v) for v in self._values(point))

    def problems(self, point: Point) -> Iterator[str]:
        """Yields the reasons why a point doesn't belong to this space."""
        active: set[str] = set()
        for slot, value in zip(self.slots, self._values(point), strict=True):
            if value is _INACTIVE:
                continue
            name = slot.parameter.name
            active.add(name)
            if name not in point:
                yield f"{name}: required: {values_of(slot.parameter)}"
            elif not slot.parameter.has(value):
                yield f"{name}: {_shown(value)} given; allowed: {values_of(slot.parameter)}"
        yield from (self._why_not(name) for name in sorted(set(point) - active))

    def _why_not(self, name: str) -> str:
        """Returns why a parameter can't be in a point where it isn't active."""
        if name not in self.names:
            known = listed(sorted(self.names))
            return f"{quoted(name)} given, which is no parameter of the study; allowed: {known}"
        slots = [slot for slot in self.slots if slot.parameter.name == name]
        below = {
            f"{self.slots[slot.parent].parameter.name} of {spelled(sorted(slot.values, key=str))}"
            for slot in slots
            if slot.parent is not None
        }
        return f"parameter {name} given; allowed only with {' or '.join(sorted(below))}"

    def has(self, point: Point) -> bool:
        return next(self.problems(point), None) is None

    def _values(self, point: Point) -> list[object]:
        """Returns the point's value for each slot, without checking the value."""
        values: list[object] = []
        for slot in self.slots:
            active = slot.parent is None or values[slot.parent] in slot.values
            values.append(point.get(slot.parameter.name) if active else _INACTIVE)
        return values


_INACTIVE = object()


def _shown(value: object) -> str:
    return shortened(repr(value))


def key(point: Point) -> Hashable:
    """Returns a key that is the same for equal points."""
    return frozenset(point.items())


def _collect(slot: Slot, found: list[Slot]) -> None:
    place = len(found)
    found.append(slot)
    for branch in slot.parameter.branches:
        _collect(Slot(branch.parameter, place, frozenset(branch.values)), found)


def _check_names(parameters: Sequence[Parameter], taken: frozenset[str] = frozenset()) -> None:
    """Checks that no two parameters of one name can be active at once.

    ``taken`` are the names that are active wherever these parameters are. Raises ValueError.
    """
    beside = set(taken)
    for parameter in parameters:
        names = _names(parameter)
        clash = sorted(names & beside)
        if clash:
            raise ValueError(f"parameter {listed(clash)} given twice; allowed: each name once")
        beside |= names
        _check_branches(parameter, taken | {parameter.name})


def _check_branches(parameter: Parameter, taken: frozenset[str]) -> None:
    """Checks the branches of a parameter: a name may recur only below different values."""
    used: dict[str, set[Value]] = {}
    for branch in parameter.branches:
        _check_names([branch.parameter], taken)
        names = _names(branch.parameter)
        clash = sorted(n for n in names if not used.get(n, set()).isdisjoint(branch.values))
        if clash:
            allowed = f"distinct values of {parameter.name}"
            raise ValueError(f"parameter {listed(clash)} given twice; allowed: for {allowed}")
        for name in names:
            used.setdefault(name, set()).update(branch.values)


def _names(parameter: Parameter) -> frozenset[str]:
    below = (name for branch in parameter.branches for name in _names(branch.parameter))
    return frozenset((parameter.name, *below))


def count_points(parameters: Sequence[Parameter]) -> int | None:
    """Returns the number of points; None: infinitely many."""
    counts = [_count(parameter) for parameter in parameters]
    return prod(c for c in counts if c is not None) if None not in counts else None


def nth_point(parameters: Sequence[Parameter], index: int) -> dict[str, Value]:
    """Returns the point with an ``index`` from 0, in the order of nested loops over the parameters.

    Raises IndexError: there are fewer points; ValueError: there are infinitely many.
    """
    size = count_points(parameters)
    if size is None:
        raise ValueError("a search space with a range of real numbers has no numbered points")
    if not 0 <= index < size:
        raise IndexError(index)
    return dict(_nth(parameters, index))


def _nth(parameters: Sequence[Parameter], index: int) -> Iterator[tuple[str, Value]]:
    for parameter, inner in zip(parameters, _inner_sizes(parameters), strict=True):
        chosen, index = divmod(index, inner)
        if isinstance(parameter, DoubleParameter):
            yield parameter.name, parameter.low
            continue
        value, rest = _value_at(parameter, chosen)
        yield parameter.name, value
        yield from _nth(_below(parameter, value), rest)


def _value_at(parameter: CountableParameter, index: int) -> tuple[Value, int]:
    """Returns the value at which the index lies, and the index among the points of its branches.

    An integer parameter may have too many values to visit each: only values with branches are
    visited.
    """
    special = sorted({parameter.index_of(v) for b in parameter.branches for v in b.values})
    after = 0
    for place in special:
        if index < place - after:
            break
        index -= place - after
        below = _size(_below(parameter, parameter.value_at(place)))
        if index < below:
            return parameter.value_at(place), index
        index -= below
        after = place + 1
    return parameter.value_at(after + index), 0


def _count(parameter: Parameter) -> int | None:
    if isinstance(parameter, DoubleParameter):
        return parameter.count
    special = {value for branch in parameter.branches for value in branch.values}
    counts = [count_points(_below(parameter, value)) for value in special]
    if None in counts:
        return None
    return parameter.count - len(special) + sum(c for c in counts if c is not None)


def _size(parameters: Sequence[Parameter]) -> int:
    size = count_points(parameters)
    assert size is not None  # noqa: S101 - the whole space is finite, so is each part
    return size


def _inner_sizes(parameters: Sequence[Parameter]) -> list[int]:
    """Returns, by parameter, how many points all later parameters have for each of its values."""
    sizes = [1] if parameters else []
    for parameter in reversed(parameters[1:]):
        sizes.append(sizes[-1] * _size([parameter]))
    return sizes[::-1]


def _below(parameter: CountableParameter, value: Value) -> list[Parameter]:
    return [branch.parameter for branch in parameter.branches if value in branch.values]
