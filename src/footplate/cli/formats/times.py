"""Parses and prints times."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from footplate.wire.timestamps import parse_time

if TYPE_CHECKING:
    from datetime import tzinfo

    from pydantic import JsonValue

_SPAN = re.compile(
    r"([+-])P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?",
    re.IGNORECASE,
)
"""ISO 8601, from now on: ``-P1D``, ``-pt2h30m``."""
_UNITS_S = (365 * 86_400, 30 * 86_400, 7 * 86_400, 86_400, 3600, 60, 1)
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_PARTIAL = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d(:\d\d)?")
"""Without its minutes, or its seconds."""
_LONGEST_S = 1000 * 365 * 86_400


def stamp(value: JsonValue) -> datetime | None:
    """The time that a field holds; None: it holds something else."""
    if not isinstance(value, str) or not _STAMP.match(value):
        return None
    try:
        return parse_time(value)
    except ValueError:
        return None


def spoken_time(text: str, now: datetime) -> datetime | None:
    """A date, a time, or a span before or after ``now``; None: it is none of them.

    Without a zone it is in UTC, like all times that commands show.
    """
    if span := _SPAN.fullmatch(text):
        return _later(span, now)
    partial = _PARTIAL.fullmatch(text)
    rest = "" if partial is None else ":00" if partial[1] else ":00:00"
    try:
        return parse_time(f"{text}{rest}")
    except ValueError:
        return None


def _later(span: re.Match[str], now: datetime) -> datetime | None:
    if not any(span.groups()[1:]):
        return None
    counts = [int(count or 0) for count in span.groups()[1:]]
    seconds = sum(count * unit for count, unit in zip(counts, _UNITS_S, strict=True))
    if seconds > _LONGEST_S:
        return None
    return now + timedelta(seconds=seconds if span[1] == "+" else -seconds)


def strftime(value: JsonValue, form: str, zone: str) -> str:
    """Nothing where there is no time. ``zone``: a name, LOCAL, or nothing for the value's own."""
    found = stamp(value)
    if found is None:
        return ""
    return found.astimezone(_zone(zone)).strftime(form) if zone else found.strftime(form)


def _zone(name: str) -> tzinfo | None:
    if name.upper() == "LOCAL":
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # times are right in UTC, too
        return UTC


def iso_duration(start: JsonValue, end: JsonValue, now: datetime | None = None) -> str:
    """``P1DT2H``, ``PT3M5S``: from ``start`` to ``end``, or to ``now``; nothing without a start."""
    first = stamp(start)
    last = stamp(end) or (now or datetime.now(UTC) if end is None else None)
    if first is None or last is None:
        return ""
    whole = round((last - first).total_seconds())
    sign, whole = "-" if whole < 0 else "", abs(whole)
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    clock = "".join(f"{n}{u}" for n, u in ((hours, "H"), (minutes, "M"), (seconds, "S")) if n)
    day = f"{days}D" if days else ""
    return f"{sign}P{day}" + (f"T{clock}" if clock else "" if day else "T0S")
