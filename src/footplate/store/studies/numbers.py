"""Numbers in JSON, with nan and infinities."""

from __future__ import annotations

import math

_NAMES = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""As the JSON of protocol buffers spells them."""


def write_number(value: float) -> float | str:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def read_number(document: object) -> float:
    """Raises ValueError for what ``write_number`` never gave."""
    if isinstance(document, float):
        return document
    if isinstance(document, str) and document in _NAMES:
        return _NAMES[document]
    if isinstance(document, int) and not isinstance(document, bool):
        return document
    raise ValueError(f"{document!a} is not a number")
