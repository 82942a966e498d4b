"""How much of one resource comes free, and when at the latest."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from itertools import accumulate


class Releases:
    """The ends of those that hold the resource, in order, and what each gives back.

    A change costs a move of memory; the sums are made anew when they are next asked for.
    """

    __slots__ = ("_amounts", "_ends", "_sums")

    def __init__(self) -> None:
        self._ends: list[float] = []
        self._amounts: list[int] = []
        self._sums: list[int] | None = None

    def add(self, end: float, amount: int) -> None:
        index = bisect_left(self._ends, end)
        self._ends.insert(index, end)
        self._amounts.insert(index, amount)
        self._sums = None

    def remove(self, end: float, amount: int) -> None:
        index = self._amounts.index(amount, bisect_left(self._ends, end))
        del self._ends[index]
        del self._amounts[index]
        self._sums = None

    def until(self, moment: float) -> int:
        """What has come free by then."""
        index = bisect_right(self._ends, moment)
        return self._totals()[index - 1] if index else 0

    def first(self, amount: float) -> float:
        """The moment by which so much has come free; infinite: so much is never held."""
        index = bisect_left(self._totals(), amount)
        return self._ends[index] if index < len(self._ends) else math.inf

    def after(self, moment: float) -> float:
        """The next moment at which any comes free."""
        index = bisect_right(self._ends, moment)
        return self._ends[index] if index < len(self._ends) else math.inf

    def _totals(self) -> list[int]:
        if self._sums is None:
            self._sums = list(accumulate(self._amounts))
        return self._sums
