"""``footplate ai-platform jobs cancel``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli import job_commands
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("cancel")
@click.argument("job", shell_complete=offered("jobs"))
@with_session
def command(session: Session, job: str) -> None:
    """End a job. One that has ended already is left as it is.

    \b
    Example:
      footplate ai-platform jobs cancel census_20261121_0900
    """
    job_commands.cancel(session, session.training_job(job))
