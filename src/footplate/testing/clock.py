"""A clock that a test moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

BEGINNING = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class FakeClock:
    """Implements ports.clock.Clock. Stands still unless told otherwise, and may go back."""

    def __init__(self, now: datetime = BEGINNING) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)
