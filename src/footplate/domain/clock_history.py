"""A history of wall-clock jumps, and the time elapsed since a moment. Pure.

Each moment that the clock gives out carries the number of its segment as its last two digits of
microseconds. So it is known to which one it belongs after the clock has been set back, too, when it
shows the same times again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

JUMP_S = 0.1
"""A smaller change of the difference between both clocks is no jump.

A moment is wrong by less than that, and the time between two moments by less than twice that.
"""

_JUMP = timedelta(seconds=JUMP_S)
_MICROSECOND = timedelta(microseconds=1)

NUMBERS = 100
"""Segments are numbered modulo this."""

_MAX_SEGMENTS = NUMBERS - 1
"""A clock that is set all the time must not fill the memory, and numbers must be unique."""


@dataclass(frozen=True)
class ClockSegment:
    """A period in which the wall clock didn't jump."""

    number: int
    begin: datetime
    """What the wall clock showed first."""
    zero: datetime
    """What it would have shown when the monotonic clock was at 0."""

    def at(self, monotonic_s: float) -> datetime:
        return self.zero + timedelta(seconds=monotonic_s)

    @property
    def monotonic_s(self) -> float:
        """Returns the time of the monotonic clock at the beginning of the segment."""
        return (self.begin - self.zero).total_seconds()


@dataclass(frozen=True)
class ClockHistory:
    """The jumps of the wall clock relative to the monotonic clock; a new history has none."""

    segments: tuple[ClockSegment, ...] = ()
    first_number: int = 0
    read_s: float = 0.0
    """What the monotonic clock showed last."""

    def after(self, wall: datetime, monotonic_s: float) -> ClockHistory:
        """Returns the history with one more reading of both clocks added."""
        zero = wall - timedelta(seconds=monotonic_s)
        if self.segments and abs(zero - self.segments[-1].zero) < _JUMP:
            return replace(self, read_s=monotonic_s)
        number = self._next_number()
        # The first one stays, for it gives the scale.
        kept = (*self.segments[:1], *self.segments[1:][2 - _MAX_SEGMENTS :])
        new = ClockSegment(number, _numbered(wall, number), zero)
        return replace(self, segments=(*kept, new), read_s=monotonic_s)

    def _next_number(self) -> int:
        if not self.segments:
            return self.first_number
        number = (self.segments[-1].number + 1) % NUMBERS
        return number if number != self.first_number else (number + 1) % NUMBERS

    def mark(self, wall: datetime) -> datetime:
        """Returns ``wall``, the last reading, as a moment of the current segment."""
        return _numbered(wall, self.segments[-1].number)

    def steady(self, moment: datetime) -> datetime:
        """Converts a moment to a scale that doesn't jump: the first segment's, continued.

        Differences on this scale are time that has really passed.
        """
        if len(self.segments) < 2:
            return moment
        first, own = self.segments[0], self._of(moment)
        return moment - (own.zero - first.zero) - _MICROSECOND * (own.number - first.number)

    def _of(self, moment: datetime) -> ClockSegment:
        """Returns the segment with the moment's number, if the clock can have shown it then.

        Other moments come from another clock, or are older than the history or the numbers. They
        count as the later of two possible segments, so that a limit takes effect late rather than
        early. Moments before the first segment count as part of it.
        """
        number = moment.microsecond % NUMBERS
        last = self.segments[-1]
        if number == last.number and last.begin - _JUMP <= moment:
            return last
        ends_s = (each.monotonic_s for each in self.segments[1:])
        away = [
            (each, max(each.begin - moment, moment - each.at(end_s), _JUMP))
            for each, end_s in zip(self.segments, (*ends_s, self.read_s), strict=True)
        ][::-1]
        shown = [each for each, distance in away if distance == _JUMP]
        of_number = (each for each in shown if each.number == number)
        if not shown and moment < self.segments[0].begin:
            return self.segments[0]
        nearest = min(away, key=lambda each: each[1])[0]
        return next(of_number, nearest)


def _numbered(moment: datetime, number: int) -> datetime:
    return moment.replace(microsecond=moment.microsecond // NUMBERS * NUMBERS + number)
