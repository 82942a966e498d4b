"""``footplate ai custom-jobs events``."""

from __future__ import annotations

from footplate.cli.ai.custom_jobs.kind import KIND
from footplate.cli.ai.location_jobs.events import events_command

command = events_command(
    KIND, "Show what has happened to a job so far: waits, restarts and why, hangs, its end."
)
