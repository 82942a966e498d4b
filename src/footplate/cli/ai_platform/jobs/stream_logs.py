"""``footplate ai-platform jobs stream-logs``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.cli.stream_options import stream_options, trial_option

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("stream-logs")
@click.argument("job", shell_complete=offered("jobs"))
@stream_options
@trial_option
@with_session
def command(session: Session, job: str, task_name: str, trial: int | None) -> None:
    """Print what a job prints, from its first line to its last.

    Lines come at once, and none is lost when the server restarts meanwhile. Ends with 0 if the
    job succeeded, with 1 otherwise. Ctrl-C ends the command, not the job.

    \b
    Examples:
      footplate ai-platform jobs stream-logs census_20261121_0900
      footplate ai-platform jobs stream-logs census_20261121_0900 --task-name=master-replica-0
      footplate ai-platform jobs stream-logs census_20261121_0900 --trial=3
    """
    job_commands.stream_logs(session, session.training_job(job), task_name, trial)
