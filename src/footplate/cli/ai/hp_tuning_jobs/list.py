"""``footplate ai hp-tuning-jobs list``."""

from __future__ import annotations

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.list import list_command

command = list_command(KIND, "List the tuning jobs of a project, newest first.")
