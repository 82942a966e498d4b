"""``footplate ai custom-jobs events``."""

from __future__ import annotations

import click

from footplate.cli import job_commands
from footplate.cli.session import Session, region_option, with_session
from footplate.cli.show import format_option


@click.command("events")
@click.argument("job", metavar="CUSTOM_JOB")
@format_option("table")
@region_option()
@with_session
def command(session: Session, job: str, region: str, layout: str) -> None:
    """Show what has happened to a job so far: waits, restarts and why, hangs, its end.

    Whoever follows a job with stream-logs sees the same as it happens.

    \b
    Examples:
      footplate ai custom-jobs events 1234567890123456789
      footplate ai custom-jobs events 1234567890123456789 --format='value(kind,replica,message)'
    """
    job_commands.show_events(session, session.custom_job(job, region), layout)
