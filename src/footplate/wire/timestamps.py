"""Times as RFC 3339 writes them, always with a zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d:\d\d)(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)?)?", re.ASCII
)


def format_time(time: datetime) -> str:
    """Of fixed width, in UTC: strings sort as the times do."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime:
    """The time that ``text`` spells; a date is its midnight, a time without zone is UTC.

    Raises:
        ValueError: it spells none.
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time; allowed: such as 2026-01-31T12:00:00Z")
    day, clock, fraction, zone = match.groups()
    offset = "+00:00" if zone is None or zone in "Zz" else zone
    try:
        time = datetime.fromisoformat(f"{day}T{clock or '00:00:00'}{(fraction or '')[:7]}{offset}")
        return time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is not a time that exists") from None
