"""What the commands of both faces do alike with one job."""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, NoReturn

import click

from footplate.cli.formats.grammar import read_format
from footplate.cli.happenings import Narrator, restarts, timetable
from footplate.cli.hints import job_commands
from footplate.cli.interruption import INTERRUPTED
from footplate.cli.lists.listing import show_none
from footplate.cli.show import cell, render, render_list
from footplate.cli.table import LEAST, total_width
from footplate.cli.terminal import clip, disarm, spell_json
from footplate.domain.errors import NotFound, ServiceError
from footplate.domain.names import trial_run_name
from footplate.domain.states import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from footplate.cli.formats.keys import Resource
    from footplate.cli.formats.layout import Layout
    from footplate.cli.lists.listing import Listing
    from footplate.cli.session import Session
    from footplate.client.resources import Job
    from footplate.client.service import Service
    from footplate.domain.names import JobName

PENDING = "pendingExplanation"
"""The field that says why a job waits, while it does."""
_REASONS = (PENDING, "errorMessage", "error.message")
_LONGEST_NOTE = 200
_SECONDS = len("2026-11-21T08:00:00")
_NOTE = {"NOTE": "noteToldOf"}
_RESTARTS = {"RESTARTS": "restarts"}
_USAGE = {"REPLICA": "replica"}
EVENTS = {
    "NUMBER": "number",
    "TIME": "time",
    "KIND": "kind",
    "REPLICA": "replica",
    "MESSAGE": "message",
}

NAMES = read_format("value(uri)")


def describe(
    session: Session, name: JobName, layout: Layout | None, columns: Mapping[str, str]
) -> None:
    """The resource on stdout; on stderr its restarts, why it failed, or what it waits for.

    The table of a tuning job says how many trials there are, and which is the best. ``layout``
    None: an overview in tables.
    """
    # Imported here, like all that pulls in httpx: start-up time.
    from footplate.cli.follow import verdict

    with session.connect() as service:
        job = service.job(name)
        _show_job(service, job, layout, columns)
        if tell_wait(job):
            return
        happened = list(service.events(name))
    if again := restarts(happened):
        click.secho(disarm(again), err=True, fg="yellow")
        click.secho(f"  {job_commands(name, session.flags)['events']}", err=True, dim=True)
    if not job.state.terminal:
        for event in happened[-1:]:
            click.secho(disarm(Narrator().tell(event)), err=True, dim=True)
    elif job.state is not State.SUCCEEDED:
        click.secho(verdict(job), err=True, fg="red")


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


def with_restarts(
    service: Service, found: list[Resource], listing: Listing, uri_of: Callable[[Resource], str]
) -> list[Resource]:
    """For a table: each job that started again with a field for how often."""
    if listing.uri or not listing.layout.is_plain_table or not found:
        return found
    with suppress(ServiceError):  # an older service doesn't say
        again = service.restarts([uri_of(resource) for resource in found])
        return [{**each, "restarts": again.get(uri_of(each), "")} for each in found]
    return found


def print_jobs(
    found: Sequence[Resource],
    listing: Listing,
    where: str,
    columns: Mapping[str, str],
    uri_of: Callable[[Resource], str],
) -> None:
    """Jobs of one list; with ``--uri`` their names only. ``where``: for who finds none."""
    if not found:
        show_none(listing, where)
    elif listing.uri:
        names = [{"uri": uri_of(resource)} for resource in found]
        layout = listing.layout
        if layout.is_plain_table:
            layout = NAMES
        click.echo(render_list(names, layout, {"URI": "uri"}))
    else:
        click.echo(_listed(found, listing.layout, columns))


def _listed(found: Sequence[Resource], layout: Layout, columns: Mapping[str, str]) -> str:
    """In a table there is a last column for why jobs wait or failed, if any does."""
    if not layout.takes_rows:
        return render_list(found, layout.without_flatten(), columns)
    found = [{**resource, "noteToldOf": _note(resource)} for resource in found]
    noted = any(resource["noteToldOf"] for resource in found)
    if any(resource.get("restarts") for resource in found):
        columns = {**columns, **_RESTARTS}
    on_terminal = layout.is_plain_table and sys.stdout.isatty()
    width = shutil.get_terminal_size().columns
    if on_terminal and _width(found, columns, noted=noted) > width:
        columns = {"ID" if path == "name" else head: path for head, path in columns.items()}
        found = [{**resource, **_shortened(resource)} for resource in found]
    if noted:
        columns = {**columns, **_NOTE}
    text = render_list(found, layout.without_flatten(), columns, fold=noted)
    if not on_terminal:
        return text
    return "\n".join(clip(line, width) for line in text.splitlines())


def _width(found: Sequence[Resource], columns: Mapping[str, str], *, noted: bool) -> int:
    rows = [[cell(resource, path) for path in columns.values()] for resource in found]
    return total_width([*columns], rows) + (LEAST + 2 if noted else 0)


def _shortened(resource: Resource) -> dict[str, str]:
    """For narrow terminals: what tells jobs of a list apart."""
    return {
        "name": cell(resource, "name").rpartition("/")[2],
        "state": cell(resource, "state").removeprefix("JOB_STATE_"),
        "createTime": cell(resource, "createTime")[:_SECONDS],
    }


def _note(resource: Resource) -> str:
    """Why it waits, or the first line of why it failed."""
    told = next(filter(None, (cell(resource, path) for path in _REASONS)), "")
    return clip(told.partition("\n")[0], _LONGEST_NOTE)


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
    from footplate.cli.screen import Screen

    with session.connect() as service:
        if trial is not None:
            name = _run_of(service, name, trial, session.flags)
        job = service.job(name)
    screen = Screen()
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
