"""``footplate ai hp-tuning-jobs delete``."""

from __future__ import annotations

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.delete import delete_command

command = delete_command(
    KIND, "Delete a job that has ended, with its trials, their logs and all that they reported."
)
