"""``footplate ai custom-jobs cancel``."""

from __future__ import annotations

import click

from footplate.cli import job_commands
from footplate.cli.session import Session, region_option, with_session


@click.command("cancel")
@click.argument("job", metavar="CUSTOM_JOB")
@region_option()
@with_session
def command(session: Session, job: str, region: str) -> None:
    """End a job. One that has ended already is left as it is.

    \b
    Example:
      footplate ai custom-jobs cancel 1234567890123456789
    """
    job_commands.cancel(session, session.custom_job(job, region))
