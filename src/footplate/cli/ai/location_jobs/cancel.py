"""``cancel``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.ai.location_jobs.job_kind import EXAMPLE_ID, N
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import region_option, with_session

if TYPE_CHECKING:
    from footplate.cli.ai.location_jobs.job_kind import Kind
    from footplate.cli.session import Session


def cancel_command(
    kind: Kind[N], text: str = "End a job. One that has ended already is left as it is."
) -> click.Command:
    @click.command("cancel", help=kind.help(text, "cancel", EXAMPLE_ID))
    @click.argument("job", metavar=kind.metavar, shell_complete=offered("jobs"))
    @region_option()
    @with_session
    def command(session: Session, job: str, region: str) -> None:
        job_commands.cancel(session, kind.name(session, job, region))

    return command
