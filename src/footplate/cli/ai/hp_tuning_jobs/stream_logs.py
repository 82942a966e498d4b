"""``footplate ai hp-tuning-jobs stream-logs``."""

from __future__ import annotations

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.stream_logs import stream_logs_command

command = stream_logs_command(
    KIND,
    "Print what the trials of a job print, from the first line to the last.",
    "--trial=3",
)
