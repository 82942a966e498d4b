"""``footplate jobs``: the commands over jobs of all kinds, projects and regions."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from footplate.cli.group import Entry, Group
from footplate.cli.listing import filter_option, list_options, uri_option
from footplate.cli.option_values import offered, yes_option
from footplate.cli.output_format import format_option
from footplate.cli.session import with_all_projects
from footplate.domain.job_states import State, state_spellings
from footplate.domain.retention import AGE_RULE, parse_age

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.listing import Listing
    from footplate.cli.output_format import Layout
    from footplate.cli.session import Session

P = ParamSpec("P")
R = TypeVar("R")

KINDS = {
    "training": "jobs",
    "custom": "customJobs",
    "tuning": "hyperparameterTuningJobs",
    "pipeline": "trainingPipelines",
}
"""By the words of screens: the last part of the names of the collections."""


@dataclass(frozen=True)
class Place:
    """A filter of jobs by place and kind; empty fields match any. ``kind``: a key of KINDS."""

    region: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Choice:
    """The criteria of ended jobs to prune."""

    age: timedelta | None
    states: tuple[State, ...]
    condition: str


class StateValue(click.ParamType[State]):
    """A parameter that is a state in any spelling: ``failed``, ``JOB_STATE_FAILED``.

    ``ended`` allows only final states.
    """

    name = "state"

    def __init__(self, *, ended: bool = False) -> None:
        self.names = {s.value: s for s in State if s.terminal or not ended}

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> State:
        if isinstance(value, State):
            return value
        known = [name for name in state_spellings(str(value)) if name in self.names]
        if not known:
            self.fail(f"{value!r} given; allowed: {', '.join(self.names)}", param, ctx)
        return self.names[known[0]]


class AgeValue(click.ParamType[timedelta]):
    """A parameter that is an age: ``30d``, ``12h``."""

    name = "age"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        found = parse_age(str(value))
        if found is None:
            self.fail(f"{value!r} given; allowed: {AGE_RULE}", param, ctx)
        return found


def place_options(function: Callable[P, R]) -> Callable[P, R]:
    """Adds ``--region`` and ``--kind``, which reach the function as one Place."""

    @click.option(
        "--region",
        default="",
        metavar="REGION",
        shell_complete=offered("regions"),
        help="Only jobs of this region; the default is all regions.",
    )
    @click.option(
        "--kind",
        type=click.Choice([*KINDS]),
        default=None,
        help="Only jobs of this kind; the default is all kinds.",
    )
    @functools.wraps(function)
    def wrapper(region: str, kind: str | None, *args: P.args, **kw: P.kwargs) -> R:
        kw["place"] = Place(region, kind or "")
        return function(*args, **kw)

    return wrapper  # type: ignore[return-value]  # click hands both options over itself


_JOBS = click.argument(
    "jobs", nargs=-1, required=True, metavar="JOB...", shell_complete=offered("every_job")
)


def _act(name: str, *given: Any, **options: Any) -> None:
    # Imported here: help texts and completion need none of what commands do.
    from footplate.cli.jobs import every_job_actions

    getattr(every_job_actions, name)(*given, **options)


@click.command("list")
@click.option(
    "--state",
    "states",
    type=StateValue(),
    multiple=True,
    metavar="STATE",
    help="Only jobs in this state, such as FAILED; may be given several times.",
)
@uri_option
@filter_option
@list_options
@place_options
@with_all_projects
def list_(
    session: Session, place: Place, listing: Listing, condition: str, states: tuple[State, ...]
) -> None:
    """List jobs of all kinds, projects and regions, newest first.

    Fields of --filter: jobId, displayName, state, region, author, createTime, startTime, endTime,
    labels.KEY. --sort-by takes these, and kind, project, restarts, message.

    \b
    Examples:
      footplate jobs list
      footplate jobs list --state=FAILED --limit=5
      footplate jobs list --project=vision --filter='createTime>2026-11-21'
      footplate jobs list --state=RUNNING --uri
    """
    _act("list_jobs", session, place, listing, condition, states)


@click.command("describe")
@_JOBS
@format_option("yaml")
@place_options
@with_all_projects
def describe(session: Session, place: Place, layout: Layout, jobs: tuple[str, ...]) -> None:
    """Show jobs, and why they failed or what they wait for.

    JOB is an id, in whichever project and region it is, or a whole resource name.

    \b
    Examples:
      footplate jobs describe 1234567890123456789
      footplate jobs describe census_1 census_2 --format='value(state)'
    """
    _act("describe_jobs", session, place, jobs, layout)


@click.command("logs")
@_JOBS
@click.option("--follow", "-f", is_flag=True, help="Follow one JOB to its end.")
@click.option(
    "--tail",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the last N lines that the job has printed.",
)
@click.option(
    "--task-name",
    "replica",
    default="",
    metavar="REPLICA",
    help="Only the lines of this replica, such as worker-0.",
)
@click.option(
    "--trial",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="Only the lines of this trial of a tuning job.",
)
@place_options
@with_all_projects
def logs(
    session: Session,
    place: Place,
    jobs: tuple[str, ...],
    replica: str,
    trial: int | None,
    tail: int | None,
    *,
    follow: bool,
) -> None:
    """Print what jobs have printed so far.

    With --follow the exit code is 0 if the job succeeded, else 1.

    \b
    Examples:
      footplate jobs logs census_1
      footplate jobs logs census_1 --tail=40
      footplate jobs logs census_1 --follow
    """
    if follow and (len(jobs) > 1 or tail is not None):
        raise click.UsageError("--follow takes only one JOB, and can't be combined with --tail")
    _act("print_logs", session, place, jobs, follow=follow, replica=replica, trial=trial, tail=tail)


@click.command("cancel")
@_JOBS
@place_options
@with_all_projects
def cancel(session: Session, place: Place, jobs: tuple[str, ...]) -> None:
    """End jobs. A job that has ended already stays as it is.

    \b
    Examples:
      footplate jobs cancel census_1 census_2
      footplate jobs list --state=QUEUED --uri | xargs footplate jobs cancel
    """
    _act("cancel_jobs", session, place, jobs)


@click.command("delete")
@_JOBS
@place_options
@with_all_projects
def delete(session: Session, place: Place, jobs: tuple[str, ...]) -> None:
    """Delete jobs that have ended, with their trials, logs and usage.

    The job behind a training pipeline goes with the pipeline. What jobs wrote into buckets stays.

    \b
    Examples:
      footplate jobs delete census_1 census_2
      footplate jobs delete projects/demo/locations/us-central1/customJobs/1234567890123456789
    """
    _act("delete_jobs", session, place, jobs)


@click.command("prune")
@click.option(
    "--older-than",
    "age",
    type=AgeValue(),
    metavar="AGE",
    help="Only jobs that ended longer ago than this, such as 30d or 12h.",
)
@click.option(
    "--state",
    "states",
    type=StateValue(ended=True),
    multiple=True,
    metavar="STATE",
    help="Only jobs in this state: SUCCEEDED, FAILED or CANCELLED; may be given several times.",
)
@filter_option
@click.option("--dry-run", is_flag=True, help="Only show which jobs the command would delete.")
@yes_option
@format_option("table")
@place_options
@with_all_projects
def prune(
    session: Session,
    /,
    place: Place,
    layout: Layout,
    *,
    dry_run: bool,
    yes: bool,
    **choice: Any,
) -> None:
    """Delete jobs that ended long ago, with their trials, logs and usage.

    Active jobs always stay. On a terminal it asks first. The setting keep_jobs does the same by
    itself.

    \b
    Examples:
      footplate jobs prune --older-than=30d --dry-run
      footplate jobs prune --older-than=30d
      footplate jobs prune --older-than=7d --state=FAILED --project=vision --yes
    """
    chosen = Choice(**choice)
    if chosen == Choice(None, (), ""):
        raise click.UsageError(
            "give --older-than, --state or --filter; `--older-than=0s` chooses all jobs that "
            "have ended"
        )
    _act("prune_jobs", session, place, chosen, layout, dry_run=dry_run, yes=yes)


command = Group(
    "jobs",
    (
        Entry("list", list_, "List jobs, newest first."),
        Entry("describe", describe, "Show jobs, and why they failed."),
        Entry("logs", logs, "Print the logs of jobs."),
        Entry("cancel", cancel, "End jobs."),
        Entry("delete", delete, "Delete jobs that have ended."),
        Entry("prune", prune, "Delete jobs that ended long ago."),
    ),
    help="Act on jobs of all kinds, projects and regions. Several ids may be given at once.",
)
