"""``footplate ai custom-jobs describe``."""

from __future__ import annotations

import click

from footplate.cli import job_commands
from footplate.cli.ai.custom_jobs.columns import COLUMNS
from footplate.cli.session import Session, region_option, with_session
from footplate.cli.show import format_option


@click.command("describe")
@click.argument("job", metavar="CUSTOM_JOB")
@format_option("yaml")
@region_option()
@with_session
def command(session: Session, job: str, region: str, layout: str) -> None:
    """Show a job, and why it failed or what it waits for.

    \b
    Examples:
      footplate ai custom-jobs describe 1234567890123456789
      footplate ai custom-jobs describe 1234567890123456789 --format='value(state)'
    """
    job_commands.describe(session, session.custom_job(job, region), layout, COLUMNS)
