"""``events``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.ai.location_jobs.job_kind import EXAMPLE_ID, N
from footplate.cli.output_format import format_option
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import region_option, with_session

if TYPE_CHECKING:
    from footplate.cli.ai.location_jobs.job_kind import Kind
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


def events_command(kind: Kind[N], text: str) -> click.Command:
    text = f"{text}\n\nWhoever follows a job with stream-logs sees the same as it happens."
    examples = (EXAMPLE_ID, f"{EXAMPLE_ID} --format='value(kind,replica,message)'")

    @click.command("events", help=kind.help(text, "events", *examples))
    @click.argument("job", metavar=kind.metavar, shell_complete=offered("jobs"))
    @format_option("table")
    @region_option()
    @with_session
    def command(session: Session, job: str, region: str, layout: Layout) -> None:
        job_commands.show_events(session, kind.name(session, job, region), layout)

    return command
