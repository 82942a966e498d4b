"""The actions of the commands of ``footplate jobs``."""

from __future__ import annotations

import sys
from collections import deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from footplate.cli.follow import FollowOutput
from footplate.cli.group import Failure
from footplate.cli.jobs.actions import stream_logs, tell_job
from footplate.cli.jobs.every_job import KINDS
from footplate.cli.jobs.job_list import print_jobs
from footplate.cli.output_format import render, render_list
from footplate.domain.errors import (
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    ServiceError,
    Unavailable,
)
from footplate.domain.job_states import State
from footplate.domain.names import (
    JobName,
    TrainingPipelineName,
    backing_job_name,
    parse_job_name,
)
from footplate.wire.timestamps import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from footplate.cli.jobs.every_job import Choice, Place
    from footplate.cli.listing import Listing
    from footplate.cli.output_format import Layout, Resource
    from footplate.cli.session import Session
    from footplate.client.service import Service

_WORDS = {collection: word for word, collection in KINDS.items()}
_ENDED = tuple(state for state in State if state.terminal)
_COLUMNS = {
    "JOB": "jobId",
    "KIND": "kind",
    "DISPLAY_NAME": "displayName",
    "STATE": "state",
    "PROJECT": "project",
    "REGION": "region",
    "CREATED": "createTime",
}
_PRUNED = {
    "JOB": "jobId",
    "KIND": "kind",
    "STATE": "state",
    "PROJECT": "project",
    "ENDED": "endTime",
}
_DESCRIBED = {"JOB": "jobId", "NAME": "name", "STATE": "state", "CREATED": "createTime"}
_MOST_NAMED = 5
_EPOCH = datetime.fromtimestamp(0, UTC)


def list_jobs(
    session: Session, place: Place, listing: Listing, condition: str, states: tuple[State, ...]
) -> None:
    asked = _all_of(condition, _in_states(states))
    with session.connect() as service:
        found = listing.of(_jobs(service, session, place, asked, listing.page_size))
    where = ""
    if session.project or place.region or place.kind:
        where = "; choose other jobs with --project, --region and --kind"
    print_jobs(found, listing, where, _COLUMNS, lambda resource: str(resource["name"]))


def _jobs(
    service: Service, session: Session, place: Place, condition: str, page_size: int | None = None
) -> Iterator[Resource]:
    """Yields the jobs, with the command line's words for their kinds."""
    asked = {
        "project": session.project,
        "region": place.region,
        "kind": KINDS.get(place.kind, ""),
    }
    for job in service.every_job.list(asked, condition=condition, page_size=page_size):
        yield {**job, "kind": _WORDS.get(str(job["kind"]), job["kind"])}


def _all_of(*parts: str) -> str:
    """Joins conditions with AND, the user's first: error messages count its characters."""
    return " AND ".join(filter(None, parts))


def _in_states(states: Iterable[State]) -> str:
    text = " OR ".join(f"state={state.value}" for state in states)
    return f"({text})" if text else ""


def describe_jobs(session: Session, place: Place, texts: tuple[str, ...], layout: Layout) -> None:
    """Prints the jobs that are found, then reports those that aren't."""
    names: list[JobName] = []
    with session.connect() as service:
        failed = _each(texts, lambda text: names.append(_find(service, session, place, text)))
        found = [service.every_job.resource(name) for name in names]
        if len(texts) == 1 and found:
            click.echo(render(found[0], layout, _DESCRIBED))
        elif found:
            click.echo(render_list(found, layout, _DESCRIBED))
        for name in names:
            _tell(session, service, name, titled=len(names) > 1)
    sys.exit(int(failed))


def _tell(session: Session, service: Service, name: JobName, *, titled: bool) -> None:
    if titled:
        click.secho(f"{name}:", err=True, bold=True)
    try:
        tell_job(session, service, service.job(name))
    except NotFound:  # the job behind a pipeline was deleted
        return


def print_logs(
    session: Session,
    place: Place,
    texts: tuple[str, ...],
    *,
    follow: bool,
    replica: str,
    trial: int | None,
    tail: int | None,
) -> None:
    with session.connect() as service:
        if follow:
            name = service.program(_find(service, session, place, texts[0]))
            stream_logs(session, name, replica, trial)

        def print_one(text: str) -> None:
            found = _find(service, session, place, text)
            if len(texts) > 1:
                click.secho(f"==> {found} <==", bold=True)
            lines = service.logs(service.program(found), replica=replica, trial=trial)
            shown = deque(lines, tail) if tail is not None else lines
            screen, printed = FollowOutput(), False
            for line in shown:
                screen.line(line)
                printed = True
            if not printed:
                click.echo(f"Job {found.job_id} has printed nothing.", err=True)

        failed = _each(texts, print_one)
    sys.exit(int(failed))


def cancel_jobs(session: Session, place: Place, texts: tuple[str, ...]) -> None:
    with session.connect() as service:

        def cancel(text: str) -> None:
            name = _find(service, session, place, text)
            service.every_job.cancel(name)
            state = str(service.every_job.details(name)["state"])
            if state == State.CANCELLED.value:
                click.echo(f"Job {name.job_id} is cancelled.", err=True)
            elif State(state).terminal:
                click.echo(f"Job {name.job_id} had ended already: {state}.", err=True)
            else:
                click.echo(f"Job {name.job_id} is being cancelled.", err=True)

        failed = _each(texts, cancel)
    sys.exit(int(failed))


def delete_jobs(session: Session, place: Place, texts: tuple[str, ...]) -> None:
    with session.connect() as service:

        def delete(text: str) -> None:
            name = _find(service, session, place, text)
            service.every_job.delete(name)
            click.echo(f"Job {name.job_id} is deleted.", err=True)

        failed = _each(texts, delete)
    sys.exit(int(failed))


def prune_jobs(
    session: Session, place: Place, choice: Choice, layout: Layout, *, dry_run: bool, yes: bool
) -> None:
    asked = _all_of(choice.condition, _in_states(choice.states or _ENDED))
    if choice.age is not None:
        before = _EPOCH + max(timedelta(), datetime.now(UTC) - _EPOCH - choice.age)
        asked = _all_of(asked, f'endTime<"{format_time(before)}"')
    with session.connect() as service:
        found = list(_jobs(service, session, place, asked))
        if not found:
            click.echo("No job that has ended matches; nothing is deleted.", err=True)
        elif dry_run:
            click.echo(render_list(found, layout, _PRUNED))
            click.echo(f"Would delete {_count(len(found))}.", err=True)
        else:
            _prune(service, found, yes=yes)


def _prune(service: Service, found: Sequence[Resource], *, yes: bool) -> None:
    if not yes and sys.stdin.isatty():
        text = f"Delete {_count(len(found))} with their logs and usage?"
        click.confirm(text, abort=True, err=True)
    deleted, kept = 0, []
    for job in found:
        try:
            service.every_job.delete(parse_job_name(str(job["name"])))
        except NotFound:  # it went with its pipeline, or somebody else deleted it
            pass
        except FailedPrecondition as error:
            kept.append(error.message)
            continue
        deleted += 1
    click.echo(f"Deleted {_count(deleted)}.", err=True)
    for message in kept[:_MOST_NAMED]:
        click.secho(f"Kept: {message}", err=True, fg="yellow")
    if len(kept) > _MOST_NAMED:
        click.secho(f"Kept: {_count(len(kept) - _MOST_NAMED)} more", err=True, fg="yellow")


def _count(jobs: int) -> str:
    return "1 job" if jobs == 1 else f"{jobs} jobs"


def _each(texts: Sequence[str], act: Callable[[str], None]) -> bool:
    """Calls ``act`` for each text, and reports errors; returns whether there were any."""
    failed = False
    for text in dict.fromkeys(texts):
        try:
            act(text)
        except Unavailable:
            raise
        except ServiceError as error:
            Failure(error.message).show()
            failed = True
    return failed


def _find(service: Service, session: Session, place: Place, text: str) -> JobName:
    """Returns the name of the job that has ``text`` as its id or name.

    Raises:
        NotFound: no job matches; the message says if one has this display name.
        InvalidArgument: several jobs match.
    """
    if "/" in text:
        return parse_job_name(text)
    found = _names(service, session, place, f"jobId={_quoted(text)}")
    if len(found) == 1:
        return found[0]
    if not found:
        shown = _names(service, session, place, f"displayName={_quoted(text)}")
        raise NotFound(_missing(text, session.project, place, shown))
    raise InvalidArgument(
        f"{len(found)} jobs have the id {text!r}: {_listed(found)}; give the full name of a job, "
        "or --project, --region or --kind"
    )


def _names(service: Service, session: Session, place: Place, condition: str) -> list[JobName]:
    """Returns the jobs' names, without jobs that run pipelines' programs (same ids)."""
    jobs = _jobs(service, session, place, condition)
    names = [parse_job_name(str(job["name"])) for job in jobs]
    behind = {
        backing_job_name(name, tunes=tunes)
        for name in names
        if isinstance(name, TrainingPipelineName)
        for tunes in (False, True)
    }
    return [name for name in names if name not in behind]


def _missing(text: str, project: str, place: Place, shown: Sequence[JobName]) -> str:
    given = {"project": project, "region": place.region, "kind": place.kind}
    flags = " ".join(f"--{name}={value}" for name, value in given.items() if value)
    where = f"with {flags}" if flags else "in any project or region"
    if not shown:
        return (
            f"there is no job {text!r} {where}\n  list jobs: footplate jobs list {flags}".rstrip()
        )
    noun = "the display name of" if len(shown) == 1 else f"the display name of {len(shown)} jobs:"
    return f"no job has the id {text!r} {where}; {text!r} is {noun} {_listed(shown)}"


def _listed(names: Sequence[JobName]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(str, names[:_MOST_NAMED])) + more


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
