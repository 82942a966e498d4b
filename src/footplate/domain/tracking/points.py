"""Points of time series."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Point:
    """A point of a time series.

    ``value`` is a scalar, or the field of another value as JSON: ``{"tensor": ...}``, ``{"blobs":
    ...}``. A series has one point at each step: the one written last.
    """

    step: int
    time: datetime
    value: float | str


@dataclass(frozen=True)
class Extent:
    """The last step and time of a time series."""

    step: int
    time: datetime
