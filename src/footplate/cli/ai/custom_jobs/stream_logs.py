"""``footplate ai custom-jobs stream-logs``."""

from __future__ import annotations

import click

from footplate.cli import job_commands
from footplate.cli.session import Session, region_option, with_session
from footplate.cli.stream_options import stream_options


@click.command("stream-logs")
@click.argument("job", metavar="CUSTOM_JOB")
@stream_options
@region_option()
@with_session
def command(session: Session, job: str, region: str, task_name: str) -> None:
    """Print what a job prints, from its first line to its last.

    Lines come at once, and none is lost when the server restarts meanwhile. Ends with 0 if the
    job succeeded, with 1 otherwise. Ctrl-C ends the command, not the job.

    \b
    Examples:
      footplate ai custom-jobs stream-logs 1234567890123456789
      footplate ai custom-jobs stream-logs 1234567890123456789 --task-name=workerpool0-0
    """
    job_commands.stream_logs(session, session.custom_job(job, region), task_name)
