"""Why a job waits, in words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """``place`` counts from 1 in the job's line, by priority and arrival.

    ``reason`` changes only when what is missing changes; ``text`` is the whole sentence.
    """

    place: int
    reason: str
    text: str
    starts_by: float | None = None
    """The latest moment at which it starts unless others come before it; None: unknown.

    Only a job that is promised a moment has one, and only if all that it counts on was asked for.
    """
