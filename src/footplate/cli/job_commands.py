"""Commands on one job that both APIs share."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, NoReturn

import click

from footplate.cli.job_events import EventFormatter, restarts, timetable
from footplate.cli.keyboard_interrupt import INTERRUPTED
from footplate.cli.next_commands import job_commands
from footplate.cli.output_format import cell, render, render_list
from footplate.cli.terminal_text import disarm, spell_json
from footplate.domain.errors import NotFound
from footplate.domain.job_states import State
from footplate.domain.names import trial_run_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session
    from footplate.client.records import Event, Job
    from footplate.client.service import Service
    from footplate.domain.names import JobName

PENDING = "pendingExplanation"
"""The field that says why a job waits, while it does."""
_USAGE = {"REPLICA": "replica"}
EVENTS = {
    "NUMBER": "number",
    "TIME": "time",
    "KIND": "kind",
    "REPLICA": "replica",
    "MESSAGE": "message",
}


def describe(
    session: Session, name: JobName, layout: Layout | None, columns: Mapping[str, str]
) -> None:
    """The resource on stdout; on stderr its warnings, its restarts, why it failed, or what it waits
    for.

    The table of a tuning job says how many trials there are, and which is the best. ``layout``
    None: an overview in tables.
    """
    # Imported here, like all that pulls in httpx: start-up time.
    from footplate.cli.follow import verdict

    with session.connect() as service:
        job = service.job(name)
        _show_job(service, job, layout, columns)
        happened = list(service.events(name))
    print_warnings(happened)
    if tell_wait(job):
        return
    if again := restarts(happened):
        click.secho(disarm(again), err=True, fg="yellow")
        click.secho(f"  {job_commands(name, session.flags)['events']}", err=True, dim=True)
    if not job.state.terminal:
        for event in happened[-1:]:
            click.secho(disarm(EventFormatter().tell(event)), err=True, dim=True)
    elif job.state is not State.SUCCEEDED:
        click.secho(verdict(job), err=True, fg="red")
    elif job.resource.get("endExplanation"):
        click.secho(verdict(job), err=True, fg="yellow")


def print_warnings(happened: Sequence[Event]) -> None:
    """Print a job's warnings and what its search resumed, on stderr."""
    for event in happened:
        if event.kind == "WARNING":
            click.secho(f"Warning: {disarm(event.message)}", err=True, fg="yellow")
        elif event.kind == "EARLIER_TRIALS":
            click.echo(disarm(f"It {event.message}."), err=True)


def _show_job(
    service: Service, job: Job, layout: Layout | None, columns: Mapping[str, str]
) -> None:
    # Imported here: start-up time of help texts.
    from footplate.cli.ai_platform.jobs.overview import overview
    from footplate.cli.trials.summary import is_tuning, summary

    plain = layout is None or layout.is_plain_table
    trials = service.trials(job.name) if plain and is_tuning(job.resource) else None
    if layout is None:
        click.echo(overview(job.resource, trials))
    elif trials is not None:
        click.echo(summary(job.resource, columns, trials))
    else:
        click.echo(render(job.resource, layout, columns))


def show_events(session: Session, name: JobName, layout: Layout) -> None:
    """All that has happened to it so far; in other formats than a table field by field."""
    with session.connect() as service:
        happened = list(service.events(name))
    if layout.is_plain_table:
        told = timetable(happened)
        click.echo(disarm(told, plain=True) if sys.stdout.isatty() else told)
    else:
        click.echo(render_list([asdict(event) for event in happened], layout, EVENTS))


def cancel(session: Session, name: JobName) -> None:
    with session.connect() as service:
        service.cancel(name)
        job = service.job(name)
    if job.state in {State.CANCELLING, State.CANCELLED}:
        how = "is" if job.state is State.CANCELLED else "is being"
        click.echo(f"Job {name.job_id} {how} cancelled.", err=True)
        click.echo(f"  {job_commands(name, session.flags)['describe']}", err=True)
    else:
        click.echo(f"Job {name.job_id} had ended already: {job.state.value}.", err=True)


def show_usage(
    session: Session, name: JobName, layout: Layout, replica: str, points: int | None
) -> None:
    """A table with a chart; all of it in other formats."""
    # Imported here, like all that pulls in httpx: start-up time.
    from footplate.cli.usage_report import CHART_WIDTH, usage_table

    if layout.is_plain_table and points is None:
        points = CHART_WIDTH
    with session.connect() as service:
        replicas = service.usage(name, replica=replica, points=points)
    if not replicas:
        click.echo(f"Nothing is known yet of what job {name.job_id} uses.", err=True)
    elif layout.is_plain_table:
        click.echo(usage_table(replicas))
    else:
        click.echo(render_list([usage.resource for usage in replicas], layout, _USAGE))


def stream_logs(
    session: Session, name: JobName, replica: str = "", trial: int | None = None
) -> None:
    """Follow the job; ends the process: 0 if it succeeded, 1 otherwise, 130 at Ctrl-C.

    With ``trial`` it is the job that runs this trial of it.
    """
    # Imported here, like all that pulls in httpx: start-up time.
    from footplate.cli.follow import Follower
    from footplate.cli.follow_output import FollowOutput

    with session.connect() as service:
        if trial is not None:
            name = _run_of(service, name, trial, session.flags)
        job = service.job(name)
    screen = FollowOutput()
    follower = Follower(session.connect, name, screen, replica)
    try:
        job = follower.run(events=not job.state.terminal)
    except KeyboardInterrupt:
        commands = job_commands(name, session.flags)
        screen.note(f"\nNo longer following job {name.job_id}; it goes on.")
        screen.note(f"  follow it again: {commands['stream-logs']}")
        screen.note(f"  end it:          {commands['cancel']}")
        sys.exit(INTERRUPTED)
    conclude(job)


def _run_of(service: Service, name: JobName, trial: int, flags: str) -> JobName:
    """Raises NotFound, FailedPrecondition: there is no such job; it has no such trial, or none."""
    # Imported here, like all that pulls in httpx: start-up time.
    from footplate.cli.trials.selection import find_trial

    run = trial_run_name(name, trial)
    try:
        return service.job(run).name
    except NotFound:
        find_trial(service.trials(name), trial, flags)
        raise


def conclude(job: Job, *, interrupted: bool = False) -> NoReturn:
    """The verdict, and the end of the process: 0 if the job succeeded, 1 otherwise.

    ``interrupted``: its end was asked for by Ctrl-C; then it is 130.
    """
    # Imported here, like all that pulls in httpx: start-up time.
    from footplate.cli.follow import verdict

    succeeded = job.state is State.SUCCEEDED
    click.secho(verdict(job), err=True, fg="green" if succeeded else "red")
    sys.exit(INTERRUPTED if interrupted else int(not succeeded))


def tell_wait(job: Job) -> bool:
    """On stderr, if it waits."""
    why = cell(job.resource, PENDING)
    if why:
        click.secho(disarm(why), err=True, fg="yellow")
    return bool(why)


def stacks(session: Session, name: JobName, replicas: tuple[str, ...], layout: str) -> None:
    """Where the replicas stand, on stdout; ends with 1 if that is known of none."""
    # Imported here, like all that pulls in pydantic: start-up time.
    from footplate.domain.stacks import describe as describe_stacks

    with session.connect() as service:
        collected = service.stacks.collect(name, replicas)
    comparison = collected.report.comparison
    if layout == "json":
        click.echo(spell_json(collected.resource, indent=2, sort_keys=True))
    else:
        click.echo("\n".join(disarm(line) for line in describe_stacks(comparison).split("\n")))
    sys.exit(int(not comparison.places and not comparison.children))
