"""``footplate ai-platform jobs list``."""

from __future__ import annotations

import click

from footplate.cli import job_commands
from footplate.cli.ai_platform.jobs.columns import COLUMNS, TUNED
from footplate.cli.list_options import list_options
from footplate.cli.session import Session, with_session
from footplate.cli.show import format_option
from footplate.cli.trials.summary import is_tuning


@click.command("list")
@list_options
@format_option("table")
@with_session
def command(
    session: Session,
    layout: str,
    condition: str,
    limit: int | None,
    page_size: int | None,
    sort_by: str | None,
    *,
    uri: bool,
) -> None:
    """List the jobs of a project, newest first.

    TUNES is the metric of a tuning job; the jobs of its trials are in no list.

    \b
    Examples:
      footplate ai-platform jobs list
      footplate ai-platform jobs list --filter='state=FAILED' --limit=5
      footplate ai-platform jobs list --filter='labels.team=vision' --format=json
    """
    with session.connect() as service:
        jobs = service.training_jobs.list(session.project, condition=condition, page_size=page_size)
        shown = job_commands.select_jobs(jobs, limit=limit, sort_by=sort_by)
    tuned = any(is_tuning(job.resource) for job in shown)
    columns = {**COLUMNS, **TUNED} if tuned else COLUMNS
    job_commands.print_jobs(shown, session.project, layout, columns, uri=uri)
