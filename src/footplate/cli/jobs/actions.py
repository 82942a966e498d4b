"""The actions of the commands in ``verbs``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.follow import Follower, FollowOutput, conclude, verdict
from footplate.cli.jobs.events import EventFormatter, restarts, timetable
from footplate.cli.jobs.job_list import print_jobs, with_restarts
from footplate.cli.jobs.kinds import KINDS, PENDING, job_commands
from footplate.cli.keyboard_interrupt import INTERRUPTED
from footplate.cli.output_format import cell, render, render_list
from footplate.cli.table import boxed
from footplate.cli.terminal_text import disarm, spell_json
from footplate.cli.trials.commands import show_trials
from footplate.cli.trials.fields import find_trial
from footplate.cli.trials.summary import is_tuning, summary, trial_counts
from footplate.cli.usage_report import CHART_WIDTH, usage_table
from footplate.domain.errors import NotFound
from footplate.domain.job_states import State
from footplate.domain.machine_hours import MachineHours, say_cost, say_hours
from footplate.domain.names import TrainingJobName, trial_run_name
from footplate.domain.stacks import describe as describe_stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from footplate.cli.jobs.kinds import Kind
    from footplate.cli.listing import Listing
    from footplate.cli.output_format import Layout, Resource
    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.domain.names import CustomJobName, JobName, TuningJobName
    from footplate.wire.footplate_v1.events import Event
    from footplate.wire.footplate_v1.trials import TrialList

_TUNED = {"TUNES": "trainingOutput.hyperparameterMetricTag"}
"""The metric of a tuning job among training jobs; of others nothing."""
_USAGE = {"REPLICA": "replica"}
_OVERVIEW = {
    "JOB": "jobId",
    "STATUS": "state",
    "CREATED": "createTime",
    "STARTED": "startTime",
    "ENDED": "endTime",
}
_SECONDS = len("2026-11-21T08:00:00")
_INPUT = {
    "REGION": "trainingInput.region",
    "MODULE": "trainingInput.pythonModule",
    "SCALE_TIER": "trainingInput.scaleTier",
    "RUNTIME": "trainingInput.runtimeVersion",
}
EVENTS = {
    "NUMBER": "number",
    "TIME": "time",
    "KIND": "kind",
    "REPLICA": "replica",
    "MESSAGE": "message",
}


def describe(session: Session, name: JobName, layout: Layout, *, summarize: bool = False) -> None:
    """Prints the resource on stdout; on stderr its warnings, restarts, failure, or what it waits
    for.

    The table of a tuning job has the number of trials and the best one. ``summarize`` prints an
    overview in tables.
    """
    with session.connect() as service:
        job = service.job(name)
        _show_job(service, job, None if summarize else layout)
        tell_job(session, service, job)


def tell_job(session: Session, service: Service, job: Job) -> None:
    """Prints warnings, use and restarts on stderr, and why the job failed or waits."""
    happened = list(service.events(job.name))
    used = service.hours(job.name)
    print_warnings(happened)
    if tell_wait(job):
        return
    if used is not None and (text := say_use(used)):
        click.secho(text, err=True, dim=True)
    if again := restarts(happened):
        click.secho(disarm(again), err=True, fg="yellow")
        click.secho(f"  {job_commands(job.name, session.flags)['events']}", err=True, dim=True)
    if not job.state.terminal:
        for event in happened[-1:]:
            click.secho(disarm(EventFormatter().tell(event)), err=True, dim=True)
    elif job.state is not State.SUCCEEDED:
        click.secho(verdict(job), err=True, fg="red")
    elif job.resource.get("endExplanation"):
        click.secho(verdict(job), err=True, fg="yellow")


def say_use(used: Mapping[str, Any]) -> str:
    """Returns a sentence on a job's use, from the server's figures; '' if it never ran."""
    hours = MachineHours(used["machineHours"], used["acceleratorHours"])
    if not hours.machines:
        return ""
    cost = f", {say_cost(used['cost'], used['currency'])}" if "cost" in used else ""
    return f"Used {say_hours(hours)}{cost}."


def print_warnings(happened: Sequence[Event]) -> None:
    """Prints on stderr a job's warnings, its lost files, and which search it resumed."""
    for event in happened:
        if event.kind == "WARNING":
            click.secho(f"Warning: {disarm(event.message)}", err=True, fg="yellow")
        elif event.kind == "LOST_FILES":
            text = f"Warning: {event.replica}: {event.message}."
            click.secho(disarm(text), err=True, fg="yellow")
        elif event.kind == "EARLIER_TRIALS":
            click.echo(disarm(f"It {event.message}."), err=True)


def _show_job(service: Service, job: Job, layout: Layout | None) -> None:
    columns = KINDS[type(job.name)].columns
    plain = layout is None or layout.kind == "table"
    trials = service.trials(job.name) if plain and is_tuning(job.resource) else None
    if layout is None:
        click.echo(_overview(job.resource, trials))
    elif trials is not None:
        click.echo(summary(job.resource, columns, trials))
    else:
        click.echo(render(job.resource, layout, columns))


def _overview(resource: Resource, trials: TrialList | None) -> str:
    """Returns an overview in tables. ``trials`` is given for a tuning job.

    gcloud's last table, metered units, is empty: nothing is metered.
    """
    states = [
        text[:_SECONDS] if path.endswith("Time") else text
        for path in _OVERVIEW.values()
        for text in (cell(resource, path),)
    ]
    given = [cell(resource, path) for path in _INPUT.values()]
    tables = [
        boxed([*_OVERVIEW], [states], title="Job Overview"),
        boxed([*_INPUT], [given], title="Training Input Summary"),
    ]
    if trials is not None and is_tuning(resource):
        row = [", ".join(trials.goals), *trial_counts(trials)]
        title = "Training Output Summary"
        tables.append(boxed(["METRIC", "TRIALS", "BEST"], [row], title=title))
    return disarm("\n".join(tables), plain=True)


def list_jobs(
    session: Session, kind: Kind[Any], region: str, listing: Listing, condition: str
) -> None:
    """Prints the jobs of a project and, if the kind has regions, of a region."""

    def uri_of(resource: Resource) -> str:
        """Returns the resource's full name; resources of AI Platform contain only an id."""
        job_id = str(resource.get("jobId"))
        return str(resource["name"] if kind.regional else TrainingJobName(session.project, job_id))

    with session.connect() as service:
        jobs = service.jobs_beside(
            kind.name(session.project, region, ""),
            condition=condition,
            page_size=listing.page_size,
        )
        found = listing.of(job.resource for job in jobs)
        found = with_restarts(service, found, listing, uri_of)
    where = f" in project {session.project}; choose another project with --project"
    if kind.regional:
        where = (
            f" in project {session.project}, {region}; choose others with --project and --region"
        )
    tuned = not kind.regional and any(map(is_tuning, found))
    columns = {**kind.columns, **_TUNED} if tuned else kind.columns
    print_jobs(found, listing, where, columns, uri_of)


def show_events(session: Session, name: JobName, layout: Layout) -> None:
    """Prints all events so far: as a table, or in other formats field by field."""
    with session.connect() as service:
        happened = list(service.events(name))
    if layout.kind == "table":
        click.echo(disarm(timetable(happened), plain=True))
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


def delete(session: Session, name: CustomJobName | TuningJobName) -> None:
    with session.connect() as service:
        service.delete(name)
    click.echo(f"Job {name.job_id} is deleted.", err=True)


def show_usage(
    session: Session, name: JobName, layout: Layout, replica: str, points: int | None
) -> None:
    """Prints the usage as a table with a chart, or in other formats completely."""
    if layout.kind == "table" and points is None:
        points = CHART_WIDTH
    with session.connect() as service:
        replicas = service.usage(name, replica=replica, points=points)
    if not replicas:
        click.echo(f"The service hasn't measured yet what job {name.job_id} uses.", err=True)
    elif layout.kind == "table":
        click.echo(usage_table(replicas))
    else:
        click.echo(render_list([usage.encode() for usage in replicas], layout, _USAGE))


def stream_logs(
    session: Session, name: JobName, replica: str = "", trial: int | None = None
) -> None:
    """Follows the job, then exits: 0 if it succeeded, 1 otherwise, 130 at Ctrl-C.

    With ``trial``, follows the job that runs this trial.
    """
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
        screen.note(f"\nNo longer following job {name.job_id}; the job continues.")
        screen.note(f"  follow it again: {commands['stream-logs']}")
        screen.note(f"  end it:          {commands['cancel']}")
        sys.exit(INTERRUPTED)
    conclude(job)


def _run_of(service: Service, name: JobName, trial: int, flags: str) -> JobName:
    """Returns the name of the job that runs a trial.

    Raises NotFound if there is no such job or trial, and FailedPrecondition if the job has no
    trials.
    """
    run = trial_run_name(name, trial)
    try:
        return service.job(run).name
    except NotFound:
        find_trial(service.trials(name), trial, flags)
        raise


def tell_wait(job: Job) -> bool:
    """Prints on stderr why a job waits; returns whether it waits."""
    why = cell(job.resource, PENDING)
    if why:
        click.secho(disarm(why), err=True, fg="yellow")
    return bool(why)


def stacks(session: Session, name: JobName, replicas: tuple[str, ...], layout: str) -> None:
    """Prints where the replicas' code is; exits with 1 if that isn't known of any."""
    with session.connect() as service:
        report = service.stacks(name, replicas)
    comparison = report.comparison
    if layout == "json":
        # Imported here: pydantic takes longer than most of the actions.
        from footplate.wire.stacks import encode_report

        click.echo(spell_json(encode_report(report), indent=2, sort_keys=True))
    else:
        click.echo("\n".join(disarm(line) for line in describe_stacks(comparison).split("\n")))
    sys.exit(int(not comparison.places and not comparison.children))


def ssh(session: Session, name: JobName, replica: str, command: str | None) -> None:
    """Opens a shell; the process exits as the shell did."""
    # Imported here: websockets and what speaks it, for this one of the commands.
    from footplate.cli.shell.ssh import ssh as open_shell

    open_shell(session, name, replica, command)


ACTIONS: Mapping[str, Callable[..., None]] = {
    "describe": describe,
    "list": list_jobs,
    "trials": show_trials,
    "stream-logs": stream_logs,
    "events": show_events,
    "stacks": stacks,
    "usage": show_usage,
    "ssh": ssh,
    "cancel": cancel,
    "delete": delete,
}
"""By verb: each takes a session, the name of a job (``list``: a kind and a region), and options."""
