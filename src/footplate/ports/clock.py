"""The clock port."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """The wall clock, which may jump."""

    def now(self) -> datetime:
        """Returns the current time in UTC, with its zone."""
        ...


class SteadyClock(Clock, Protocol):
    """A wall clock that knows when it jumped."""

    def steady(self, moment: datetime) -> datetime:
        """Converts ``moment``, a reading of this clock, to a scale that doesn't jump.

        Only differences on that scale have a meaning: time that has really passed.
        """
        ...
