"""Limits of a study's duration. Source: StudyStoppingConfig of aiplatform v1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class StudyLimits:
    """None: not given; 0 trials mean the same. Durations in seconds count from the making."""

    stop_asap: bool = False
    """Once the study is over, the trials that still run are asked to stop, too."""
    min_trials: int | None = None
    """Before so many have ended no other limit holds."""
    max_trials: int | None = None
    max_trials_no_progress: int | None = None
    """Over when so many trials in a row brought nothing better."""
    max_duration_no_progress_s: float | None = None
    """Counts from the end of the best trial; as long as none has a value, from the first start."""
    min_duration_s: float | None = None
    min_end: datetime | None = None
    max_duration_s: float | None = None
    max_end: datetime | None = None
