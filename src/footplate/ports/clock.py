"""The clock port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime


class Clock(Protocol):
    """The wall clock; it may jump."""

    def now(self) -> datetime:
        """Returns the current time, aware, in UTC."""
        ...


class SteadyClock(Clock, Protocol):
    """A wall clock with a witness of its jumps."""

    def steady(self, moment: datetime) -> datetime:
        """``moment``, noted by this clock, on a scale that doesn't jump.

        Only differences on that scale mean something: time that has really passed.
        """
        ...
