"""``footplate ai hp-tuning-jobs events``."""

from __future__ import annotations

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.events import events_command

command = events_command(
    KIND, "Show what has happened to a job so far: trials that began and ended, and how it ended."
)
