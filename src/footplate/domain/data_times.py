"""Divides rows by their times, in bounded memory. Pure.

The rows aren't sorted. Each pass counts them by intervals, and the next pass counts only the
intervals in which a boundary lies, more finely. Most data needs one pass.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from footplate.domain.data_splits import apportion

MAX_INTERVALS = 100_000
"""Intervals that are counted at the same time."""
_WIDEST = 80
"""Times are less than 2 to the power of this."""
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?[Zz]", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)


def parse_nanoseconds(text: str) -> int | None:
    """Returns nanoseconds since 1970 for a time of RFC 3339 in UTC; None: it is no such time."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    day, clock, fraction = match.groups()
    try:
        whole = datetime.fromisoformat(f"{day}T{clock}+00:00")
    except ValueError:
        return None
    return (whole - _EPOCH) // _SECOND * 10**9 + int(f"{fraction or ''}000000000"[:9])


@dataclass(frozen=True)
class _Boundary:
    """The time of the row at ``rank``, from 0, in order of time.

    It lies in [``low``, ``high``), before which there are ``before`` rows.
    """

    rank: int
    low: int = -(1 << _WIDEST)
    high: int = 1 << _WIDEST
    before: int = 0

    @property
    def found(self) -> bool:
        return self.high - self.low == 1

    def place(self) -> tuple[int, int]:
        """Returns the time, and how many rows of just this time are before the boundary."""
        return self.low, self.rank - self.before


class TimeCuts:
    """Finds the times between the parts of data; rows of the same time keep their order."""

    def __init__(self, fractions: Sequence[float], most: int = MAX_INTERVALS) -> None:
        self.sizes: tuple[int, ...] = (0,) * len(fractions)
        self._fractions = fractions
        self._most = most
        self._boundaries: list[_Boundary] | None = None
        self._counts: Counter[int] = Counter()
        self._shift = 0
        self._seen: Counter[int] = Counter()
        self._places: list[tuple[int, int]] = []

    def look(self, time: int) -> None:
        if self._boundaries is not None and not any(
            each.low <= time < each.high for each in self._boundaries
        ):
            return
        self._counts[time >> self._shift] += 1
        while len(self._counts) > self._most:
            self._widen()

    def end_pass(self) -> bool:
        """Ends a pass over all rows; returns whether another one is necessary."""
        if self._boundaries is None:
            total = self._counts.total()
            self.sizes = apportion(total, self._fractions)
            ranks = accumulate(self.sizes[:-1])
            self._boundaries = [_Boundary(rank) for rank in ranks]
        ordered = sorted(self._counts.items())
        self._boundaries = [self._narrow(each, ordered) for each in self._boundaries]
        self._counts, self._shift = Counter(), 0
        # A part that ends with the last row has no row after it: its boundary is never found.
        unfinished = any(not each.found and each.rank < self._total for each in self._boundaries)
        if not unfinished:
            self._places = [each.place() for each in self._boundaries]
            self._seen = Counter({time: 0 for time, _ in self._places})
        return unfinished

    def part_of(self, time: int) -> int:
        """Returns the part of the next row."""
        order = self._seen.get(time, -1)
        if order >= 0:
            self._seen[time] += 1
        return sum((time, order) >= place for place in self._places)

    @property
    def _total(self) -> int:
        return sum(self.sizes)

    def _widen(self) -> None:
        """Doubles the width of the intervals."""
        self._shift += 1
        wider: Counter[int] = Counter()
        for interval, count in self._counts.items():
            wider[interval >> 1] += count
        self._counts = wider

    def _narrow(self, boundary: _Boundary, ordered: Sequence[tuple[int, int]]) -> _Boundary:
        if boundary.found or boundary.rank >= self._total:
            # After all rows.
            end = 1 << _WIDEST
            return boundary if boundary.found else replace(boundary, low=end, before=boundary.rank)
        before = boundary.before
        for interval, count in ordered:
            low = interval << self._shift
            if not boundary.low <= low < boundary.high:
                continue
            if before + count > boundary.rank:
                high = low + (1 << self._shift)
                return replace(boundary, low=low, high=high, before=before)
            before += count
        raise AssertionError("the row of a boundary is in one of the intervals")
