"""gcloud's options for following a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli.parameter_completion import offered

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")


def trial_option(function: Callable[P, R]) -> Callable[P, R]:
    """--trial, for what may be a tuning job."""
    return click.option(
        "--trial",
        type=click.IntRange(min=1),
        metavar="NUMBER",
        shell_complete=offered("trials"),
        help="Of a tuning job: only the lines of this trial, to its end.",
    )(function)


def stream_options(function: Callable[P, R]) -> Callable[P, R]:
    """--task-name; gcloud's --polling-interval and --allow-multiline-logs have nothing to do."""
    for option in (
        click.option("--polling-interval", type=int, hidden=True, expose_value=False),
        click.option("--allow-multiline-logs", is_flag=True, hidden=True, expose_value=False),
        click.option(
            "--task-name",
            default="",
            metavar="REPLICA",
            shell_complete=offered("replicas"),
            help="Only the lines of this one, such as worker-0.",
        ),
    ):
        function = option(function)
    return function


def stream_logs_option(function: Callable[P, R]) -> Callable[P, R]:
    """--stream-logs and --async, for commands that make a job."""
    function = click.option(
        "--async", "detach", is_flag=True, help="Don't follow the job (the default)."
    )(function)
    return click.option(
        "--stream-logs",
        is_flag=True,
        help="Follow the job to its end; the exit code is 0 only if it succeeded.",
    )(function)
