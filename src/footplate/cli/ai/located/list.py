"""``list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.list_options import list_options
from footplate.cli.session import Session, region_option, with_session
from footplate.cli.show import format_option

if TYPE_CHECKING:
    from footplate.cli.ai.located.kind import Kind, N


def list_command(
    kind: Kind[N], text: str = "List the jobs of a project, newest first."
) -> click.Command:
    examples = (
        "",
        "--filter='state=\"JOB_STATE_FAILED\"' --limit=5",
        "--filter='labels.team=vision' --format=json",
    )

    @click.command("list", help=kind.help(text, "list", *examples))
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
        with session.connect() as service:
            jobs = kind.jobs(service).list(
                session.project, region, condition=condition, page_size=page_size
            )
            shown = job_commands.select_jobs(jobs, limit=limit, sort_by=sort_by)
            job_commands.print_jobs(shown, session.project, layout, kind.columns, uri=uri)

    return command
