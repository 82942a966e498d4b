"""Doubles in responses, as proto3 JSON writes them, with NaN and infinities."""

from __future__ import annotations

import math


def double_json(value: float) -> float | str:
    """Returns the value, or ``NaN``, ``Infinity``, ``-Infinity`` as text for proto clients."""
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
