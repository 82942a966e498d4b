"""``footplate ai custom-jobs cancel``."""

from __future__ import annotations

from footplate.cli.ai.custom_jobs.kind import KIND
from footplate.cli.ai.location_jobs.cancel import cancel_command

command = cancel_command(KIND)
