"""``footplate ai custom-jobs usage``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.output_format import format_option
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import region_option, with_session
from footplate.cli.usage_options import usage_options

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


@click.command("usage")
@click.argument("job", metavar="CUSTOM_JOB", shell_complete=offered("jobs"))
@usage_options
@format_option("table")
@region_option()
@with_session
def command(
    session: Session, job: str, region: str, layout: Layout, replica: str, points: int | None
) -> None:
    """Show what the replicas of a job use: CPU, memory, disk, network, GPUs.

    CPU is in percent of one vCPU. Bytes read, written, received and sent are totals.

    \b
    Examples:
      footplate ai custom-jobs usage 1234567890123456789
      footplate ai custom-jobs usage 1234567890123456789 --replica=workerpool0-0 --format=json
    """
    name = session.custom_job(job, region)
    job_commands.show_usage(session, name, layout, replica, points)
