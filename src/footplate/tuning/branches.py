"""The branches of a search space, and which of them a search neglects.

A branch is a combination of values of the parameters that others depend on, or a category of
another parameter that is always active. Of N branches each is tried at least once in any 4 N + 8
consecutive trials, whatever a model believes, unless all its points have been tried:

- of up to 20 branches each has a trial among the first N + 10: after 10 trials those come next
  that had none;
- after 3 N + 8 trials without it a branch is overdue, and the one that waits longest is next;
- at most N - 1 others stand before it, each for one trial: after that they aren't overdue.

Choices of more than 64 branches wait behind the others, and N counts all branches for them. They
are overdue after 2 N + 8 trials, since the others come back while they wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, product
from math import prod
from typing import TypeGuard

from footplate.domain.formatting import shortened
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    CountableParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Value,
)
from footplate.domain.studies.space import Point, SearchSpace
from footplate.tuning.sampling import SeenPoints

Narrowed = tuple[Parameter, tuple[CountableParameter, ...]]

MOST = 64
"""Of more combinations, those of each parameter count by themselves."""
FEW = 20
"""Of more branches, none has a trial of its own before it is overdue."""
INITIAL_TRIALS = 10
_MARGIN = 8
_SPACES = 64


@dataclass(frozen=True)
class SpaceBranch:
    """A part of the search space: some parameters have fewer values.

    ``space`` is limited to this branch. ``chosen`` are the parameters that have fewer values in it.
    """

    space: SearchSpace
    chosen: tuple[CountableParameter, ...]

    def has(self, point: Point) -> bool:
        """Returns whether a point of the whole space lies in the branch."""
        return all(one.name in point and one.has(point[one.name]) for one in self.chosen)

    def slots(self, space: SearchSpace) -> Iterator[tuple[int, CountableParameter]]:
        """Yields the parameters that the branch narrows, with their places in the whole space."""
        left = {one.name: one for one in self.chosen}
        found: dict[int, CountableParameter] = {}
        for place, slot in enumerate(space.slots):
            parent = None if slot.parent is None else found.get(slot.parent)
            there = slot.parent is None or (parent and any(map(parent.has, slot.values)))
            if there and slot.parameter.name in left:
                found[place] = left[slot.parameter.name]
                yield place, found[place]

    def inside(self, points: Iterable[Point]) -> SeenPoints:
        return SeenPoints((point for point in points if self.has(point)), self.space.size)

    def __str__(self) -> str:
        first, *others = self.chosen
        if not others and isinstance(first, CategoricalParameter):
            return f"branch `{_shown(first)}`"
        return f"branch `{', '.join(f'{one.name}={_shown(one)}' for one in self.chosen)}`"


@dataclass(frozen=True)
class Neglected:
    """A branch that the search has neglected.

    ``trials`` counts the trials since the last one in the branch; ``ever``: there has been one.
    """

    branch: SpaceBranch
    trials: int
    ever: bool

    def __str__(self) -> str:
        since = f"for {self.trials} trials" if self.ever else f"in the first {self.trials} trials"
        return f"{self.branch} was not tried {since}"


def bound(space: SearchSpace) -> int:
    """Returns how many consecutive trials surely cover each branch of small choices."""
    return 4 * len(branches(space)) + _MARGIN


def neglected(space: SearchSpace, trials: Sequence[Point], *, again: bool) -> Neglected | None:
    """Returns the branch that must be next; None: any may be.

    ``trials`` has all points so far, in their order. ``again``: points may be tried again.
    """
    small = branches(space)
    overdue = 3 * len(small) + _MARGIN
    first = INITIAL_TRIALS if len(small) <= FEW else overdue
    found = _oldest(small, (overdue, first), trials, again=again)
    large = [choice for choice in _choices(space) if _size(choice) > MOST]
    overdue = 2 * (len(small) + sum(map(_size, large))) + _MARGIN
    if found is None and large and len(trials) >= overdue:
        every = (branch for choice in large for branch in _branches(space, choice))
        found = _oldest(every, (overdue, overdue), trials, again=again)
    return found


@lru_cache(_SPACES)
def branches(space: SearchSpace) -> tuple[SpaceBranch, ...]:
    """Returns the branches of choices that aren't too large."""
    small = (choice for choice in _choices(space) if _size(choice) <= MOST)
    return tuple(branch for choice in small for branch in _branches(space, choice))


def _oldest(
    branches: Iterable[SpaceBranch],
    overdue: tuple[int, int],
    trials: Sequence[Point],
    *,
    again: bool,
) -> Neglected | None:
    """Returns the overdue branch that has waited longest, the first of equals; None: none.

    ``overdue`` has two numbers of trials: a branch is overdue if it had no trial for the first
    number, or never had one in the second.
    """
    found: Neglected | None = None
    for branch in branches if len(trials) >= min(overdue) else ():
        since = next((i for i, point in enumerate(reversed(trials)) if branch.has(point)), None)
        waited = len(trials) if since is None else since
        if waited < max(overdue[since is None], found.trials + 1 if found else 0):
            continue
        if again or not branch.inside(trials).everything:
            found = Neglected(branch, waited, since is not None)
    return found


def _choices(space: SearchSpace) -> list[tuple[CountableParameter, ...]]:
    """Returns the choices: parameters that are always active and together make branches."""
    countable = [p for p in space.parameters if not isinstance(p, DoubleParameter)]
    parents = tuple(p for p in countable if p.branches)
    kinds = (p for p in countable if isinstance(p, CategoricalParameter) and p.count > 1)
    alone = [(p,) for p in kinds if not p.branches]
    together = [parents] if parents and _size(parents) <= MOST else [(p,) for p in parents]
    return [*together, *alone]


def _size(choice: Sequence[CountableParameter]) -> int:
    """Returns how many branches a choice has."""
    size = prod(map(_combinations, choice))
    return size if size <= MOST or len(choice) > 1 else _group_count(choice[0])


def _branches(space: SearchSpace, choice: Sequence[CountableParameter]) -> Iterator[SpaceBranch]:
    deep = prod(map(_combinations, choice)) <= MOST
    chosen = {p.name for p in choice}
    narrowed: list[Iterable[Narrowed]] = [
        _narrowed(p, deep=deep)
        if not isinstance(p, DoubleParameter) and p.name in chosen
        else [(p, ())]
        for p in space.parameters
    ]
    for found in product(*narrowed):
        parameters = tuple(parameter for parameter, _ in found)
        yield SpaceBranch(SearchSpace(parameters), tuple(one for _, of in found for one in of))


def _narrowed(parameter: CountableParameter, *, deep: bool) -> Iterator[Narrowed]:
    """Yields the parameter narrowed to each group of its values.

    ``deep``: parameters below it on which others depend are narrowed, too.
    """
    for group in _groups(parameter):
        below: list[Iterable[Narrowed]] = [
            _narrowed(child, deep=True) if deep and _has_branches(child) else [(child, ())]
            for child in (branch.parameter for branch in group.branches)
        ]
        for found in product(*below):
            pairs = zip(group.branches, found, strict=True)
            under = tuple(Branch(branch.values, child) for branch, (child, _) in pairs)
            yield replace(group, branches=under), (group, *(one for _, of in found for one in of))


def _combinations(parameter: CountableParameter) -> int:
    """Counts a parameter's values, each combined with those of the parameters that depend on it."""
    if isinstance(parameter, CategoricalParameter):
        special = {value for branch in parameter.branches for value in branch.values}
        alone = parameter.count - len(special)
        return alone + sum(_combined(_below(parameter, value)) for value in special)
    return sum(_combined([b.parameter for b in group.branches]) for group in _groups(parameter))


def _combined(parameters: Iterable[Parameter]) -> int:
    return prod(_combinations(p) for p in parameters if _has_branches(p))


def _has_branches(parameter: Parameter) -> TypeGuard[CountableParameter]:
    return not isinstance(parameter, DoubleParameter) and bool(parameter.branches)


def _group_count(parameter: CountableParameter) -> int:
    many = isinstance(parameter, CategoricalParameter)
    return parameter.count if many else len(_groups(parameter))


def _groups(parameter: CountableParameter) -> list[CountableParameter]:
    """Groups values: each category by itself; numbers by the parameters that they make active."""
    if isinstance(parameter, CategoricalParameter):
        return [
            replace(parameter, values=(value,), default=None, branches=_under(parameter, (value,)))
            for value in parameter.values
        ]
    if isinstance(parameter, IntegerParameter):
        return list(_runs(parameter))
    alike: dict[tuple[int, ...], list[float]] = {}
    for value in parameter.values:
        alike.setdefault(_active(parameter, value), []).append(value)
    return [
        replace(parameter, values=tuple(of), default=None, branches=_under(parameter, of))
        for of in alike.values()
    ]


def _runs(parameter: IntegerParameter) -> Iterator[IntegerParameter]:
    special = {int(value) for branch in parameter.branches for value in branch.values}
    ends = {parameter.low, *special, *(value + 1 for value in special)} - {parameter.high + 1}
    runs = groupby(sorted(ends), key=lambda value: _active(parameter, value))
    starts = [next(run) for _, run in runs]
    for low, after in zip(starts, [*starts[1:], parameter.high + 1], strict=True):
        under = _under(parameter, range(low, after)) if _active(parameter, low) else ()
        yield replace(parameter, low=low, high=after - 1, default=None, branches=under)


def _under(parameter: CountableParameter, values: Sequence[Value]) -> tuple[Branch, ...]:
    """Returns the branches below values that all activate the same parameters."""
    return tuple(Branch(tuple(values), child) for child in _below(parameter, values[0]))


def _active(parameter: CountableParameter, value: Value) -> tuple[int, ...]:
    """Returns the indices of the branches that are active for the value."""
    return tuple(i for i, branch in enumerate(parameter.branches) if value in branch.values)


def _below(parameter: CountableParameter, value: Value) -> list[Parameter]:
    return [branch.parameter for branch in parameter.branches if value in branch.values]


def _shown(parameter: CountableParameter) -> str:
    if isinstance(parameter, CategoricalParameter):
        return shortened(parameter.values[0])
    low, high = parameter.value_at(0), parameter.value_at(parameter.count - 1)
    return str(low) if low == high else f"{low} to {high}"
