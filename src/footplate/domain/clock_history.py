"""A history of wall-clock jumps, and the time elapsed since a moment. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

JUMP_S = 1.0
"""Less than this between two readings is no jump: clocks are set right little by little, too."""


@dataclass(frozen=True)
class ClockSegment:
    """A time in which the wall clock didn't jump; ``begin`` and ``end`` are what it showed."""

    begin: datetime
    end: datetime
    zero: datetime
    """What it would have shown when the monotonic clock was at 0."""


@dataclass(frozen=True)
class ClockHistory:
    """What was seen of the wall clock, beside the monotonic one; at first nothing."""

    stretches: tuple[ClockSegment, ...] = ()

    def after(self, wall: datetime, monotonic_s: float) -> ClockHistory:
        """With one more reading of both clocks."""
        zero = wall - timedelta(seconds=monotonic_s)
        if self.stretches:
            last = self.stretches[-1]
            if abs(zero - last.zero) < timedelta(seconds=JUMP_S):
                longer = ClockSegment(last.begin, max(last.end, wall), zero)
                return ClockHistory((*self.stretches[:-1], longer))
        return ClockHistory((*self.stretches, ClockSegment(wall, wall, zero)))

    def steady(self, moment: datetime) -> datetime:
        """``moment`` on a scale that doesn't jump: that of the first stretch, carried on.

        Differences on it are time that has really passed. A moment that the clock has shown twice,
        because it was turned back, counts as the later one.
        """
        if len(self.stretches) < 2:
            return moment
        return moment - (self._of(moment).zero - self.stretches[0].zero)

    def _of(self, moment: datetime) -> ClockSegment:
        """Where the end of a stretch wasn't seen, it lasted until the next. What was noted before
        the first one belongs to it, for all that is known.
        """
        *earlier, last = self.stretches
        shown = (each for each in (last, *earlier[::-1]) if each.begin <= moment <= each.end)
        begun = (each for each in earlier[::-1] if each.begin <= moment)
        return next(shown, None) or next(begun, self.stretches[0])
