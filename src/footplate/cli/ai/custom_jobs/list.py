"""``footplate ai custom-jobs list``."""

from __future__ import annotations

import click

from footplate.cli import job_commands
from footplate.cli.ai.custom_jobs.columns import COLUMNS
from footplate.cli.list_options import list_options
from footplate.cli.session import Session, region_option, with_session
from footplate.cli.show import format_option


@click.command("list")
@list_options
@format_option("table")
@region_option()
@with_session
def command(
    session: Session,
    region: str,
    layout: str,
    condition: str,
    limit: int | None,
    page_size: int | None,
    sort_by: str | None,
    *,
    uri: bool,
) -> None:
    """List the jobs of a project, newest first.

    \b
    Examples:
      footplate ai custom-jobs list
      footplate ai custom-jobs list --filter='state="JOB_STATE_FAILED"' --limit=5
      footplate ai custom-jobs list --filter='labels.team=vision' --format=json
    """
    with session.connect() as service:
        jobs = service.custom_jobs.list(
            session.project, region, condition=condition, page_size=page_size
        )
        shown = job_commands.select_jobs(jobs, limit=limit, sort_by=sort_by)
        job_commands.print_jobs(shown, session.project, layout, COLUMNS, uri=uri)
