"""Assigns the rows of a dataset to the sets of a split, in bounded memory. Pure.

An assignment first looks at all rows, in one pass or several. It then assigns them in one more
pass, in the same order. The same rows are always assigned in the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Protocol, TypeAlias

from footplate.domain.data_splits import (
    PREDEFINED,
    SETS,
    DataSet,
    DataSplit,
    Fractions,
    SplitMethod,
    apportion,
    round_together,
)
from footplate.domain.data_times import TimeCuts, parse_nanoseconds
from footplate.domain.errors import FailedPrecondition
from footplate.domain.formatting import quoted

RowKey: TypeAlias = str | Mapping[str, str]
"""The part of a row that an assignment looks at: a column's value, or a data item's labels."""
Sizes: TypeAlias = Mapping[DataSet, int]
MAX_STRATA = 500
"""The values that are mirrored in each set; rows of others are assigned at random."""
MIN_STRATUM = 3
MAX_VALUES = 100_000
"""Different values that the column of a stratified split may have."""
_SEED = 0


class Assignment(Protocol):
    def look(self, key: RowKey) -> None:
        """Takes note of the next row. Raises FailedPrecondition: the split doesn't fit the data."""
        ...

    def end_pass(self) -> bool:
        """Ends a pass over all rows; returns whether another one is necessary."""
        ...

    def sizes(self) -> Sizes:
        """Returns the number of rows in each set, once all passes have ended."""
        ...

    def assign(self, key: RowKey) -> DataSet | None:
        """Returns the set of the next row; None: the row is in none."""
        ...


def assignment_of(split: DataSplit, select: Callable[[RowKey], DataSet | None]) -> Assignment:
    """Creates the assignment of a split; ``select`` applies the filters of a filter split."""
    if split.method is SplitMethod.FILTERS:
        return ByRule(select)
    if split.method is SplitMethod.PREDEFINED:
        return ByRule(lambda key: PREDEFINED.get(str(key)))
    if split.method is SplitMethod.TIMES:
        return ByTime(split.fractions)
    if split.method is SplitMethod.STRATA:
        return Stratified(split.fractions, split.key)
    return AtRandom(split.fractions)


class ByRule:
    """Assigns each row by itself."""

    def __init__(self, select: Callable[[RowKey], DataSet | None]) -> None:
        self._select = select
        self._counts: Counter[DataSet | None] = Counter()

    def look(self, key: RowKey) -> None:
        self._counts[self._select(key)] += 1

    def end_pass(self) -> bool:
        return False

    def sizes(self) -> Sizes:
        return {each: self._counts[each] for each in SETS}

    def assign(self, key: RowKey) -> DataSet | None:
        return self._select(key)


class AtRandom:
    """Assigns rows at random, but exactly as many as the fractions give.

    Each set of rows of these sizes is equally probable (Knuth's algorithm S).
    """

    def __init__(self, fractions: Fractions) -> None:
        self._fractions = fractions.complete()
        self._count = 0
        self._draw = _Draw((0, 0, 0), _seeded())

    def look(self, key: RowKey) -> None:  # noqa: ARG002 - all rows are alike
        self._count += 1

    def end_pass(self) -> bool:
        self._draw = _Draw(apportion(self._count, self._fractions), _seeded())
        return False

    def sizes(self) -> Sizes:
        return dict(zip(SETS, apportion(self._count, self._fractions), strict=True))

    def assign(self, key: RowKey) -> DataSet | None:  # noqa: ARG002 - all rows are alike
        return self._draw.next()


class Stratified:
    """Assigns rows at random so that each frequent value of a column has the same fractions."""

    def __init__(self, fractions: Fractions, column: str) -> None:
        self._fractions = fractions.complete()
        self._column = column
        self._values: Counter[str] = Counter()
        self._draws: dict[str, _Draw] = {}
        self._others = _Draw((0, 0, 0), _seeded())
        self._sizes: dict[DataSet, int] = {}

    def look(self, key: RowKey) -> None:
        self._values[str(key)] += 1
        if len(self._values) > MAX_VALUES:
            raise FailedPrecondition(
                f"the column {quoted(self._column)} has more than {MAX_VALUES} different values; "
                "allowed for stratifiedSplit: a column of categories"
            )

    def end_pass(self) -> bool:
        random = _seeded()
        frequent = sorted(self._values.items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_STRATA]
        strata = {value: count for value, count in frequent if count >= MIN_STRATUM}
        carry, sizes = [0.0] * len(SETS), [0] * len(SETS)

        def divide(count: int) -> _Draw:
            # What rounding takes from a set in one stratum, it gets back in the next.
            exact = [
                count * share + kept for share, kept in zip(self._fractions, carry, strict=True)
            ]
            parts = round_together(exact, count)
            for index, part in enumerate(parts):
                carry[index] = exact[index] - part
                sizes[index] += part
            return _Draw(parts, random)

        self._draws = {value: divide(count) for value, count in strata.items()}
        self._others = divide(self._values.total() - sum(strata.values()))
        self._sizes = dict(zip(SETS, sizes, strict=True))
        return False

    def sizes(self) -> Sizes:
        return self._sizes

    def assign(self, key: RowKey) -> DataSet | None:
        return self._draws.get(str(key), self._others).next()


class ByTime:
    """Assigns the earliest rows to training, the next to validation, and the latest to test."""

    def __init__(self, fractions: Fractions) -> None:
        self._cuts = TimeCuts(fractions.complete())

    def look(self, key: RowKey) -> None:
        time = parse_nanoseconds(str(key))
        if time is not None:
            self._cuts.look(time)

    def end_pass(self) -> bool:
        return self._cuts.end_pass()

    def sizes(self) -> Sizes:
        return dict(zip(SETS, self._cuts.sizes, strict=True))

    def assign(self, key: RowKey) -> DataSet | None:
        time = parse_nanoseconds(str(key))
        return None if time is None else SETS[self._cuts.part_of(time)]


def _seeded() -> Random:
    return Random(_SEED)  # noqa: S311 - no secret: the same data is split in the same way


class _Draw:
    """Draws sets in random order, each as often as its size says."""

    def __init__(self, sizes: tuple[int, ...], random: Random) -> None:
        self._left = list(sizes)
        self._total = sum(sizes)
        self._random = random

    def next(self) -> DataSet | None:
        if not self._total:
            return None
        position = int(self._random.random() * self._total)
        self._total -= 1
        for index, left in enumerate(self._left):
            if position < left:
                self._left[index] -= 1
                return SETS[index]
            position -= left
        raise AssertionError("the sizes add up to the total")
