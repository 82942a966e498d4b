"""``footplate ai-platform jobs ssh``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.cli.shell.ssh import ssh, ssh_options

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("ssh")
@click.argument("job", shell_complete=offered("jobs"))
@ssh_options
@with_session
def command(session: Session, job: str, replica: str, commands: str | None) -> None:
    """Open a shell in a replica of a running job: in its working directory, with its variables,
    in its isolation.

    The job must have been submitted with --enable-web-access. Ends as the shell does, with 255 if
    there is none. The shell ends with the replica's program at the latest.

    \b
    Examples:
      footplate ai-platform jobs ssh census_20261121_0900
      footplate ai-platform jobs ssh census_20261121_0900 --replica=worker-0
      footplate ai-platform jobs ssh census_20261121_0900 --command='tail -n 20 /tmp/trainer.log'
    """
    ssh(session, session.training_job(job), replica, commands)
