"""``footplate ai custom-jobs describe``."""

from __future__ import annotations

from footplate.cli.ai.custom_jobs.kind import KIND
from footplate.cli.ai.location_jobs.describe import describe_command

command = describe_command(KIND)
