"""``footplate ai hp-tuning-jobs cancel``."""

from __future__ import annotations

from footplate.cli.ai.hp_tuning_jobs.kind import KIND
from footplate.cli.ai.location_jobs.cancel import cancel_command

command = cancel_command(
    KIND,
    "End a job and its running trials. Trials that have ended keep their results; one that has "
    "ended already is left as it is.",
)
