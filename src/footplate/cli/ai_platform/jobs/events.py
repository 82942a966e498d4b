"""``footplate ai-platform jobs events``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.output_format import format_option
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


@click.command("events")
@click.argument("job", shell_complete=offered("jobs"))
@format_option("table")
@with_session
def command(session: Session, job: str, layout: Layout) -> None:
    """Show what has happened to a job so far: waits, restarts and why, hangs, its end.

    Whoever follows a job with stream-logs sees the same as it happens.

    \b
    Examples:
      footplate ai-platform jobs events census_20261121_0900
      footplate ai-platform jobs events census_20261121_0900 --format='value(kind,replica,message)'
    """
    job_commands.show_events(session, session.training_job(job), layout)
