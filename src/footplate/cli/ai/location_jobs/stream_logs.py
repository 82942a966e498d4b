"""``stream-logs``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from footplate.cli import job_commands
from footplate.cli.ai.location_jobs.job_kind import EXAMPLE_ID, N
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import region_option, with_session
from footplate.cli.stream_options import stream_options, trial_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.ai.location_jobs.job_kind import Kind
    from footplate.cli.session import Session

P = ParamSpec("P")
R = TypeVar("R")

_ENDS = """Lines come at once, and none is lost when the server restarts meanwhile. Ends with 0 if
the job succeeded, with 1 otherwise. Ctrl-C ends the command, not the job."""


def stream_logs_command(kind: Kind[N], text: str, *examples: str) -> click.Command:
    """``examples``: options that narrow down what is shown."""
    words = (EXAMPLE_ID, *(f"{EXAMPLE_ID} {option}" for option in examples))

    @click.command("stream-logs", help=kind.help(f"{text}\n\n{_ENDS}", "stream-logs", *words))
    @click.argument("job", metavar=kind.metavar, shell_complete=offered("jobs"))
    @stream_options
    @(trial_option if kind.has_trials else _no_trials)
    @region_option()
    @with_session
    def command(
        session: Session, job: str, region: str, task_name: str, trial: int | None = None
    ) -> None:
        job_commands.stream_logs(session, kind.name(session, job, region), task_name, trial)

    return command


def _no_trials(function: Callable[P, R]) -> Callable[P, R]:
    return function
