"""``footplate down``."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from footplate.cli.defaults import LOOPBACK
from footplate.cli.group import Failure
from footplate.cli.keyboard_interrupt import at_interrupt
from footplate.cli.option_values import yes_option
from footplate.cli.session import with_session
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import DeadlineExceeded, FailedPrecondition, NotFound, Unavailable
from footplate.domain.formatting import listed
from footplate.domain.job_states import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.session import Session
    from footplate.client.service import Service

INTERVAL_S = 0.1
_ACTIVE = " OR ".join(f"state={state.value}" for state in State if not state.terminal)
_MOST_NAMED = 5


@click.command("down")
@click.option(
    "--timeout",
    "timeout_s",
    type=click.FloatRange(min=0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait until the jobs have ended.",
)
@yes_option
@with_session
def command(session: Session, timeout_s: float, *, yes: bool) -> None:
    """Cancel all jobs, wait for their end, and stop the service, with all of its servers.

    Asks first where jobs of others would end: those of other projects than --project, and all jobs
    of a server that is elsewhere or requires a token. Without a terminal it then needs --yes.

    Where no server runs, the jobs that run without it are ended.

    \b
    Examples:
      footplate down
      footplate down --yes
    """
    try:
        with session.connect() as service:
            if not yes:
                _ask(session, service)
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


def _ask(session: Session, service: Service) -> None:
    """Asks the user; raises Failure if jobs of others would end and no user can confirm."""
    projects = _active(service)
    target = session.target()
    shared = target.token is not None or urlsplit(target.url).hostname not in LOOPBACK
    if not projects or (not shared and set(projects) == {session.project}):
        return
    lines = [
        f"  {project}: {'1 job' if len(jobs) == 1 else f'{len(jobs)} jobs'}: "
        f"{listed(jobs, _MOST_NAMED)}"
        for project, jobs in sorted(projects.items())
    ]
    text = "These jobs would end:\n" + disarm("\n".join(lines))
    if not sys.stdin.isatty():
        raise Failure(f"others may use this server. {text}\nAdd --yes to end all these jobs.")
    click.echo(text, err=True)
    click.confirm("End all these jobs, and stop the service?", abort=True, err=True)


def _active(service: Service) -> dict[str, list[str]]:
    """Returns the ids of the jobs that haven't ended, by project."""
    found: dict[str, list[str]] = {}
    with suppress(NotFound):  # an older service doesn't list jobs of all projects
        for job in service.every_job.list({}, condition=_ACTIVE):
            found.setdefault(str(job["project"]), []).append(str(job["jobId"]))
    return found


def _end_others(session: Session, urls: Sequence[str]) -> list[Service]:
    """Asks the other servers to end once no job is active; ignores those that don't answer."""
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
        f"the service still waits for its jobs after {timeout_s:g} s; the service stops by "
        "itself when the jobs have ended"
    )


def _end_left_behind(session: Session) -> None:
    # Imported here: a server takes longer to import than a help text may take.
    from footplate.server import end_left_behind, left_behind

    settings = session.settings()
    count = sum(left_behind(settings).values())
    if not count:
        click.echo("No server is running, and no job is running.", err=True)
        return
    _say(count)
    end_left_behind(settings)
    click.echo("All jobs have ended.", err=True)
