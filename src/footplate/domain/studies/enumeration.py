"""Numbers the points of a finite space without listing them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from footplate.domain.studies.parameters import DoubleParameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate.domain.studies.parameters import CountableParameter, Parameter, Value


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
