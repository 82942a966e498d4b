"""``footplate ai custom-jobs stream-logs``."""

from __future__ import annotations

from footplate.cli.ai.custom_jobs.kind import KIND
from footplate.cli.ai.location_jobs.stream_logs import stream_logs_command

command = stream_logs_command(
    KIND, "Print what a job prints, from its first line to its last.", "--task-name=workerpool0-0"
)
