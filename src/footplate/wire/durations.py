"""Durations in proto3 JSON: ``"3.5s"``, always a string."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from footplate.domain.errors import Violation
from footplate.wire.json_text import describe

_DURATION = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,9})?s")
_MAX_S = 315_576_000_000.0
"""Ten thousand years. Source: google/protobuf/duration.proto."""

LONGEST_S = 3_155_760_000.0
"""A hundred years: what a job may run or wait for. Beyond, there soon are no dates any more."""


def check_duration(value: object) -> str:
    """Returns ``value`` if it is a duration; else raises ValueError, which says what is allowed."""
    if isinstance(value, str) and _DURATION.fullmatch(value) and abs(seconds(value)) <= _MAX_S:
        return value
    raise ValueError(f'{describe(value)} given; allowed: seconds as a string, such as "3600s"')


def seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))


def format_duration(duration_s: float) -> str:
    """Formats a duration in microseconds; limits values that messages can't hold."""
    bounded = 0.0 if math.isnan(duration_s) else max(-_MAX_S, min(duration_s, _MAX_S))
    text = f"{bounded:.6f}".rstrip("0").rstrip(".")
    return f"{'0' if text == '-0' else text}s"


def check_limit(duration: str, field: str, least_s: float = 0) -> Iterator[Violation]:
    """Yields a violation unless a limit is positive, from ``least_s`` to `LONGEST_S`."""
    allowed = f"{least_s:.0f}s" if least_s else "more than 0s"
    if not (least_s or 1e-9) <= seconds(duration) <= LONGEST_S:
        said = f"{describe(duration)} given; allowed: {allowed} to {LONGEST_S:.0f}s (100 years)"
        yield Violation(field, said)
