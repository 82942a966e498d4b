"""``footplate ai-platform jobs describe``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.ai_platform.jobs.columns import COLUMNS
from footplate.cli.output_format import format_option
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


@click.command("describe")
@click.argument("job", shell_complete=offered("jobs"))
@click.option(
    "--summarize", is_flag=True, help="Show it in small tables; --format is of no effect then."
)
@format_option("yaml")
@with_session
def command(session: Session, job: str, layout: Layout, *, summarize: bool) -> None:
    """Show a job, and why it failed or what it waits for.

    \b
    Examples:
      footplate ai-platform jobs describe census_20261121_0900
      footplate ai-platform jobs describe census_20261121_0900 --format='value(state)'
      footplate ai-platform jobs describe census_20261121_0900 --summarize
    """
    shown = None if summarize else layout
    job_commands.describe(session, session.training_job(job), shown, COLUMNS)
