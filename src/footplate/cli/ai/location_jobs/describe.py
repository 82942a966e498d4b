"""``describe``."""

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


def describe_command(
    kind: Kind[N], text: str = "Show a job, and why it failed or what it waits for."
) -> click.Command:
    examples = (EXAMPLE_ID, f"{EXAMPLE_ID} --format='value(state)'")

    @click.command("describe", help=kind.help(text, "describe", *examples))
    @click.argument("job", metavar=kind.metavar, shell_complete=offered("jobs"))
    @format_option("yaml")
    @region_option()
    @with_session
    def command(session: Session, job: str, region: str, layout: Layout) -> None:
        job_commands.describe(session, kind.name(session, job, region), layout, kind.columns)

    return command
