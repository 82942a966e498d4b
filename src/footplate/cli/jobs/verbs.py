"""The commands that kinds of jobs share: each of them once, as a row with its text and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from footplate.cli.group import Entry
from footplate.cli.listing import filter_option, list_options, uri_option
from footplate.cli.option_values import offered
from footplate.cli.output_format import format_option
from footplate.cli.session import region_option, with_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.jobs.kinds import Kind
    from footplate.cli.listing import Listing
    from footplate.cli.session import Session

    Function = Callable[..., Any]
    Decorator = Callable[[Function], Function]

_MOST_POINTS = 1000


@dataclass(frozen=True)
class Verb:
    """A command for jobs. ``summary`` is its line in the group's help; its action gets options."""

    summary: str
    text: str
    options: tuple[Decorator, ...] = ()
    examples: tuple[str, ...] = ("{job}",)


TRIAL_OPTION: Decorator = click.option(
    "--trial",
    type=click.IntRange(min=1),
    metavar="NUMBER",
    shell_complete=offered("trials"),
    help="Only the lines of this trial of a tuning job, to the trial's end.",
)

VERBS = {
    "describe": Verb(
        "Show a job, and why it failed.",
        "Show a job, and why it failed or what it waits for.",
        (format_option("yaml"),),
        ("{job}", "{job} --format='value(state)'"),
    ),
    "list": Verb(
        "List jobs, newest first.",
        "List the jobs of a project, newest first.",
        (uri_option, filter_option, list_options),
        (
            "",
            "--filter='state=JOB_STATE_FAILED AND createTime>2026-11-21' --limit=5",
            "--filter='displayName:census* AND labels.team=vision' --format=json",
            "--sort-by=~endTime --format='csv(name,displayName,state)'",
        ),
    ),
    "trials": Verb(
        "Show the trials of a job, and which is the best.",
        """Show the trials of a tuning job: their parameters, results and times; a star
marks the best one.

Fields of --filter and --sort-by are the metrics and parameters of the job, and: trial, state,
best, step (or training_steps), seconds, machine_seconds, start_time, end_time, stopped_early,
stop_reason, infeasible_reason, suggested_as, suggestion. If a metric or parameter has one of these
names, write metrics.NAME or parameters.NAME; for a name with blanks, metrics."NAME". The states
are those of the job's API: AI Platform has FAILED and CANCELLED where Vertex AI has INFEASIBLE.
CSV, JSON and YAML contain all fields, unrounded. `value(...)` takes the same names, and the names
in the JSON.""",
        (
            click.option(
                "--filter",
                "condition",
                default="",
                metavar="EXPRESSION",
                help="Only trials that match: FIELD=VALUE, != < <= > >=, : (contains), AND, OR, "
                "NOT.",
            ),
            click.option(
                "--sort-by",
                default="",
                metavar="FIELD,...",
                shell_complete=offered("trial_fields"),
                help="Sort by these fields; ~FIELD sorts in descending order.",
            ),
            click.option(
                "--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N trials."
            ),
            click.option(
                "--trial",
                type=click.IntRange(min=1),
                metavar="N",
                shell_complete=offered("trials"),
                help="Only this trial, in full.",
            ),
            click.option(
                "--curves",
                is_flag=True,
                help=(
                    "Show all measurements that trials have reported instead of results; with "
                    "--format=json, one measurement per line."
                ),
            ),
            click.option(
                "--watch", is_flag=True, help="Show the trials as they change, to the job's end."
            ),
            format_option("table"),
        ),
        (
            "{tuning_job}",
            "{tuning_job} --sort-by=rmse --limit=5",
            "{tuning_job} --filter='learning_rate<0.01 AND training_steps>100'",
            "{tuning_job} --trial=3",
            "{tuning_job} --watch",
            "{tuning_job} --format=csv > trials.csv",
            "{tuning_job} --filter=best=true --format='value(trial,rmse)'",
            "{tuning_job} --curves --format=csv > curves.csv",
        ),
    ),
    "stream-logs": Verb(
        "Follow what a job prints, to its end.",
        "Print what a job prints, from its first line to its last.",
        (
            click.option(
                "--task-name",
                "replica",
                default="",
                metavar="REPLICA",
                shell_complete=offered("replicas"),
                help="Only the lines of this replica, such as worker-0.",
            ),
            # gcloud's; they have nothing to do.
            click.option("--allow-multiline-logs", is_flag=True, hidden=True, expose_value=False),
            click.option("--polling-interval", type=int, hidden=True, expose_value=False),
        ),
        ("{job}", "{job} --task-name={primary}"),
    ),
    "events": Verb(
        "Show what has happened to a job.",
        (
            "Show the events of a job so far: waits, restarts and their reasons, hangs, and the "
            "job's end."
        ),
        (format_option("table"),),
        ("{job}", "{job} --format='value(kind,replica,message)'"),
    ),
    "stacks": Verb(
        "Show where a running job's processes stand.",
        """Show where the Python processes of a running job stand, and which replicas differ.

Replicas whose main threads stand in the same place are shown together, the largest group first.
In a hang, the largest group waits for the process that stands elsewhere. The command stops no
process.""",
        (
            click.option(
                "--replica",
                "replicas",
                multiple=True,
                metavar="REPLICA",
                help="Only this replica, such as worker-0; may be given several times.",
            ),
            click.option(
                "--format",
                "layout",
                type=click.Choice(("text", "json")),
                default="text",
                show_default=True,
                help="text compares main threads; json contains all threads.",
            ),
        ),
        ("{job}", "{job} --replica={worker}"),
    ),
    "usage": Verb(
        "Show what the replicas of a job use.",
        """Show what the replicas of a job use: CPU, memory, disk, GPUs.

CPU is in percent of one vCPU. Bytes read, written, received and sent are totals.""",
        (
            click.option(
                "--replica",
                default="",
                metavar="REPLICA",
                shell_complete=offered("replicas"),
                help="Only this replica, such as worker-0.",
            ),
            click.option(
                "--points",
                type=click.IntRange(1, _MOST_POINTS),
                help="Number of parts into which charts divide the job's time.",
            ),
            format_option("table"),
        ),
        ("{job}", "{job} --replica={primary} --format=json"),
    ),
    "ssh": Verb(
        "Open a shell in a replica of a running job.",
        """Open a shell in a replica of a running job: in the replica's working directory,
with its environment variables and its isolation.

The job must have been created with --enable-web-access. The exit code is the shell's, or 255 if
no shell opens. The shell ends at the latest when the replica's program ends.""",
        (
            click.option(
                "--replica",
                default="",
                metavar="NAME",
                help="Replica; the default is the primary one.",
            ),
            click.option(
                "--command",
                metavar="CMD",
                help="Run this command without a terminal, and exit with the command's code.",
            ),
        ),
        (
            "{job}",
            "{job} --replica=worker-0",
            "{job} --command='tail -n 20 /tmp/trainer.log'",
        ),
    ),
    "cancel": Verb("End a job.", "End a job. A job that has ended already stays as it is."),
    "delete": Verb("Delete a job that has ended.", "Delete a job that has ended, with its logs."),
}
_ALSO = {
    "stream-logs": """Lines appear at once, and no line is lost when the server restarts. The
exit code is 0 if the job succeeded, else 1. Ctrl-C ends the command, not the job.""",
    "events": "stream-logs shows the same while the job runs.",
}
"""What follows the text of a verb for every kind of job."""


def entry(kind: Kind[Any], verb: str, *options: Decorator) -> Entry:
    """Returns the command ``verb`` of a group; only this kind of job has ``options``."""
    row = VERBS[verb]
    summary = kind.summaries.get(verb, row.summary)
    return Entry(verb, _command(kind, verb, row, options), summary)


def _command(
    kind: Kind[Any], verb: str, row: Verb, options: tuple[Decorator, ...]
) -> click.Command:
    def list_them(session: Session, listing: Listing, condition: str, region: str = "") -> None:
        _action(verb)(session, kind, region, listing, condition)

    def act(session: Session, /, job: str, region: str = "", **given: Any) -> None:
        _action(verb)(session, session.job(kind, job, region), **given)

    function: Function = with_session(list_them if verb == "list" else act)
    if kind.regional:
        function = region_option()(function)
    for option in reversed((*row.options, *options)):
        function = option(function)
    if verb != "list":
        function = click.argument("job", metavar=kind.metavar, shell_complete=offered("jobs"))(
            function
        )
    text = "\n\n".join(filter(None, (kind.texts.get(verb, row.text), _ALSO.get(verb))))
    examples = kind.examples.get(verb, row.examples)
    return click.command(verb, help=kind.help(text, verb, examples))(function)


def _action(verb: str) -> Function:
    # Imported here: help texts and completion need none of what commands do.
    from footplate.cli.jobs.actions import ACTIONS

    return ACTIONS[verb]
