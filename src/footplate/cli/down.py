"""``footplate down``."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.session import with_session
from footplate.domain.errors import DeadlineExceeded, FailedPrecondition, Unavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.session import Session
    from footplate.client.service import Service

INTERVAL_S = 0.1


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
    """Cancel all jobs, wait for their end, and stop the service, with all of its servers.

    Where no server runs, the jobs that run without it are ended.
    """
    try:
        with session.connect() as service:
            ending = service.end()
            _say(ending.cancelled)
            at_interrupt("Interrupted; the service stops by itself when its jobs have ended.")
            others = _end_others(session, ending.others)
            for each in (service, *others):
                _wait(each, timeout_s)
            click.echo("The service has stopped.", err=True)
    except Unavailable:
        if session.url:
            raise
        _end_left_behind(session)


def _end_others(session: Session, urls: Sequence[str]) -> list[Service]:
    """They end by themselves when no job is left; one that is dead needs no end."""
    others = [session.connect_to(url) for url in urls]
    for other in others:
        with suppress(Unavailable):
            other.down()
    return others


def _say(count: int) -> None:
    click.echo(f"Ending {'1 job' if count == 1 else f'{count} jobs'}.", err=True)


def _wait(service: Service, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        try:
            service.health()
        except (Unavailable, FailedPrecondition):
            return
        time.sleep(INTERVAL_S)
    raise DeadlineExceeded(
        f"the service still waits for its jobs after {timeout_s:g} s; "
        "it stops by itself when they have ended"
    )


def _end_left_behind(session: Session) -> None:
    # Imported here: a server takes longer to import than a help text may take.
    from footplate.server import end_left_behind, left_behind

    settings = session.settings()
    count = sum(left_behind(settings).values())
    if not count:
        click.echo("No server runs, and no job goes on without it.", err=True)
        return
    _say(count)
    end_left_behind(settings)
    click.echo("No job goes on any more.", err=True)
