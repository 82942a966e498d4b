"""Formats numbers and durations of trials."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.cli.trials.fields import Value

_BARS = "▁▂▃▄▅▆▇█"
_SHORT, _MINUTE, _HOUR, _DAY = 9.95, 60, 3600, 86_400


def figure(value: Value) -> str:
    """Six digits of a number; nothing where there is none."""
    if value is None:
        return ""
    if isinstance(value, bool | str):
        return str(value)
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def duration(seconds: float | None) -> str:
    """Its two largest units; of a short one also tenths of a second."""
    if seconds is None:
        return ""
    if seconds < _SHORT:
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return f"{whole // _MINUTE}m {whole % _MINUTE:02d}s"
    if whole < _DAY:
        return f"{whole // _HOUR}h {whole % _HOUR // _MINUTE:02d}m"
    return f"{whole // _DAY}d {whole % _DAY // _HOUR:02d}h"


def sparkline(values: list[float], width: int) -> str:
    """From the least value to the greatest; more values than ``width`` are thinned out."""
    if len(values) > width:
        values = [values[i * (len(values) - 1) // (width - 1)] for i in range(width)]
    low, high = min(values), max(values)
    if high == low:
        return _BARS[0] * len(values)
    last = len(_BARS) - 1
    return "".join(_BARS[round((value - low) / (high - low) * last)] for value in values)
