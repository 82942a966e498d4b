"""``delete``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai.location_jobs.job_kind import EXAMPLE_ID, N
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import region_option, with_session

if TYPE_CHECKING:
    from footplate.cli.ai.location_jobs.job_kind import Kind
    from footplate.cli.session import Session


def delete_command(kind: Kind[N], text: str) -> click.Command:
    @click.command("delete", help=kind.help(text, "delete", EXAMPLE_ID))
    @click.argument("job", metavar=kind.metavar, shell_complete=offered("jobs"))
    @region_option()
    @with_session
    def command(session: Session, job: str, region: str) -> None:
        name = kind.name(session, job, region)
        with session.connect() as service:
            kind.jobs(service).delete(name)
        click.echo(f"Job {name.job_id} is deleted.", err=True)

    return command
