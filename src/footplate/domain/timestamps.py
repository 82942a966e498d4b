"""Times in the database: microseconds since 1970 in UTC.

Integers sort alike everywhere and lose nothing; SQLite has no type for times.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(time: datetime) -> int:
    """Converts a time to microseconds. Raises TypeError: the time has no zone."""
    return (time - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


def to_micros_or_none(time: datetime | None) -> int | None:
    return None if time is None else to_micros(time)


def from_micros_or_none(micros: int | None) -> datetime | None:
    return None if micros is None else from_micros(micros)
