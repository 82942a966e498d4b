"""Durations as proto3 JSON writes them: ``"3.5s"``, always a string."""

from __future__ import annotations

import re

from footplate.wire.json_text import describe

_DURATION = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,9})?s")
_MAX_S = 315_576_000_000.0
"""Ten thousand years. Source: google/protobuf/duration.proto."""


def check_duration(value: object) -> str:
    """``value`` if it is a duration; ValueError else, saying what is allowed."""
    if isinstance(value, str) and _DURATION.fullmatch(value) and abs(seconds(value)) <= _MAX_S:
        return value
    raise ValueError(f'{describe(value)} given; allowed: seconds as a string, such as "3600s"')


def seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))
