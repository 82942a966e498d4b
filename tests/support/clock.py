"""A clock that a test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from footplate.domain.clock_history import ClockHistory

BEGINNING = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class FakeClock:
    """Implements ports.clock.SteadyClock. Stands still unless told otherwise."""

    def __init__(self, now: datetime = BEGINNING) -> None:
        self._now = now
        self.passed_s = 0.0
        """How much time has really passed."""
        self._history = ClockHistory()
        self._see()

    def now(self) -> datetime:
        return self._history.mark(self._now)

    def steady(self, moment: datetime) -> datetime:
        return self._history.steady(moment)

    def advance(self, seconds: float) -> None:
        """Time passes."""
        self.passed_s += seconds
        self.jump(seconds)

    def jump(self, seconds: float) -> None:
        """Somebody sets the clock, forwards or back; no time passes."""
        self._now += timedelta(seconds=seconds)
        self._see()

    def _see(self) -> None:
        self._history = self._history.after(self._now, self.passed_s)
