"""The options of ``trials``, and how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.output_format import format_option
from footplate.cli.parameter_completion import offered

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session
    from footplate.domain.names import JobName

P = ParamSpec("P")
R = TypeVar("R")

_ABOUT = """Show the trials of a tuning job: their parameters, results and times; the best one
has a star.

Fields of --filter and --sort-by are the metrics and parameters of the job, and: trial, state,
best, step (or training_steps), seconds, machine_seconds, start_time, end_time, stopped_early,
stop_reason, infeasible_reason, suggested_as, suggestion. (A name that is taken already:
metrics.NAME, parameters.NAME; one with blanks: metrics."NAME".) States are those of the job's API:
AI Platform has FAILED and CANCELLED where Vertex AI has INFEASIBLE. CSV, JSON and YAML have
everything in them, unrounded. A projection takes the same names, and those of the JSON."""


def trials_help(command: str, job: str) -> str:
    """``command``: up to ``trials``; ``job``: an example."""
    lines = (
        f"{command} {job}",
        f"{command} {job} --sort-by=rmse --limit=5",
        f"{command} {job} --filter='learning_rate<0.01 AND training_steps>100'",
        f"{command} {job} --trial=3",
        f"{command} {job} --watch",
        f"{command} {job} --format=csv > trials.csv",
        f"{command} {job} --filter=best=true --format='value(trial,rmse)'",
        f"{command} {job} --curves --format=csv > curves.csv",
    )
    shown = "\n".join(f"  {line}" for line in lines)
    return f"{_ABOUT}\n\n\b\nExamples:\n{shown}\n"


def trials_options(function: Callable[P, R]) -> Callable[P, R]:
    for option in (
        format_option("table"),
        click.option("--watch", is_flag=True, help="Show them as they change, to the job's end."),
        click.option(
            "--curves",
            is_flag=True,
            help="Everything that trials have reported, not their results; as JSON one a line.",
        ),
        click.option(
            "--trial",
            type=click.IntRange(min=1),
            metavar="N",
            shell_complete=offered("trials"),
            help="Only this one, in full.",
        ),
        click.option(
            "--limit", type=click.IntRange(min=1), metavar="N", help="Show at most N trials."
        ),
        click.option(
            "--sort-by",
            default="",
            metavar="FIELD,...",
            shell_complete=offered("trial_fields"),
            help="Order by fields; ~FIELD for descending.",
        ),
        click.option(
            "--filter",
            "condition",
            default="",
            metavar="EXPRESSION",
            help="Only trials that match: FIELD=VALUE, != < <= > >=, : (contains), ~ (a regular "
            "expression), AND, OR, NOT; times may be such as -pt2h.",
        ),
    ):
        function = option(function)
    return function


def run_trials(
    session: Session,
    name: JobName,
    *,
    layout: Layout,
    watch: bool,
    curves: bool,
    trial: int | None,
    limit: int | None,
    sort_by: str,
    condition: str,
) -> None:
    """What the options ask for."""
    # Imported here: start-up time of help texts.
    from footplate.cli.trials.show import (
        Selection,
        show_curves,
        show_trial,
        show_trials,
        watch_trials,
    )

    if watch and (curves or trial is not None or not layout.is_plain_table):
        raise click.UsageError("--watch goes with none of --curves, --trial and --format")
    if trial is not None and curves:
        condition, trial = f"trial={trial}", None
    chosen = Selection(condition, sort_by, limit)
    if watch:
        watch_trials(session, name, chosen)
    elif trial is not None:
        show_trial(session, name, trial, layout)
    elif curves:
        show_curves(session, name, layout, chosen)
    else:
        show_trials(session, name, layout, chosen)
