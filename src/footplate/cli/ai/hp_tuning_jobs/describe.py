"""``footplate ai hp-tuning-jobs describe``."""

from __future__ import annotations

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.describe import describe_command

command = describe_command(
    KIND,
    "Show a job with its trials, and why it failed or what it waits for. --format=table has a "
    "line with the count of its trials and the best one; `trials` shows them all.",
)
