"""RFC 3339 timestamps, always with a zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from footplate.wire.json_text import describe

_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:?\d\d)?)?", re.ASCII
)


def format_time(time: datetime) -> str:
    """Formats a time in UTC with fixed width, so that texts sort in order of time."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """Parses a time; a date means its midnight, and a time without a zone is UTC.

    Raises:
        ValueError: the text is not a time.
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time; allowed: a time such as 2026-01-31T12:00:00Z")
    day, clock, fraction, zone = match.groups()
    offset = "+00:00" if zone is None or zone in "Zz" else zone
    try:
        time = datetime.fromisoformat(f"{day}T{clock or '00:00:00'}{(fraction or '')[:7]}{offset}")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"the time {text!r} does not exist") from None


def check_timestamp(value: object) -> str:
    """Returns ``value`` if it is a time with a zone. Raises ValueError: it isn't."""
    match = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if match is None or match[4] is None or len(match[4]) == 5 or not _exists(match[0]):
        allowed = 'a time with its zone, such as "2026-01-31T12:00:00Z"'
        raise ValueError(f"{describe(value)} given; allowed: {allowed}")
    return match[0]


def _exists(text: str) -> bool:
    try:
        parse_time(text)
    except ValueError:
        return False
    return True
