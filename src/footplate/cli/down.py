"""``footplate down``."""

from __future__ import annotations

import time

import click

from footplate.cli.session import Session, with_session
from footplate.domain.errors import DeadlineExceeded, Unavailable

PAUSE_S = 0.1


@click.command("down")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the jobs' end.",
)
@with_session
def command(session: Session, timeout_s: float) -> None:
    """Cancel all jobs, wait for their end, and stop the service."""
    with session.connect() as service:
        cancelled = service.down()
        noun = "1 job" if cancelled == 1 else f"{cancelled} jobs"
        click.echo(f"Ending {noun}.", err=True)
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            try:
                service.health()
            except Unavailable:
                click.echo("The service has stopped.", err=True)
                return
            time.sleep(PAUSE_S)
    raise DeadlineExceeded(
        f"the service still waits for its jobs after {timeout_s:g} s; "
        "it stops by itself when they have ended"
    )
