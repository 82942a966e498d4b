"""``footplate ai custom-jobs list``."""

from __future__ import annotations

from footplate.cli.ai.custom_jobs.kind import KIND
from footplate.cli.ai.location_jobs.list import list_command

command = list_command(KIND)
