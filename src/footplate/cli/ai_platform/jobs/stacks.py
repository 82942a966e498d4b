"""``footplate ai-platform jobs stacks``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.cli.stacks_options import stacks_options

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("stacks")
@click.argument("job", shell_complete=offered("jobs"))
@stacks_options
@with_session
def command(session: Session, job: str, replicas: tuple[str, ...], layout: str) -> None:
    """Show where the Python processes of a running job stand, and which replicas differ.

    Replicas whose main threads stand in the same place are shown together, most of them first: in
    a hang that is where they wait, and the process that differs is the one they wait for. Nothing
    is stopped for it.

    \b
    Examples:
      footplate ai-platform jobs stacks census_20261121_0900
      footplate ai-platform jobs stacks census_20261121_0900 --replica=worker-replica-1
    """
    job_commands.stacks(session, session.training_job(job), replicas, layout)
