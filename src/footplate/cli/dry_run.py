"""``--dry-run``: show what submitting a job would lead to, and make nothing."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from footplate.cli.show import render
from footplate.cli.terminal import disarm
from footplate.cli.verdict_report import UNLIMITED, headline, report

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.formats.layout import Layout
    from footplate.client.validation import Checked
    from footplate.domain.preview.verdict import Verdict

P = ParamSpec("P")
R = TypeVar("R")

_COLUMNS = {"VERDICT": "verdict", "GOOGLE_ACCEPTS": "parity.accepted"}


def dry_run_option(function: Callable[P, R]) -> Callable[P, R]:
    return click.option(
        "--dry-run",
        is_flag=True,
        help="Make nothing: say what is wrong with the job, or else what would run where. "
        "Exits with 1 if it would be refused. --format=json has all of it.",
    )(function)


def finish(checked: Checked, layout: Layout) -> NoReturn:
    """Print the verdict, and end: with 0 if the job is accepted, with 1 if it is refused."""
    verdict = checked.verdict
    if _asked_for_format():
        click.echo(render(checked.resource, layout, _COLUMNS))
    else:
        shown = sys.stdout.isatty()
        width = shutil.get_terminal_size().columns if shown else UNLIMITED
        top, rest = headline(verdict, width), report(verdict, width)
        click.secho(disarm(top) if shown else top, fg=_colour(verdict))
        if not verdict.violations:
            click.echo()
        click.echo(disarm(rest) if shown else rest)
    sys.exit(0 if verdict.accepted else 1)


def _colour(verdict: Verdict) -> str:
    """Green only for what would start now."""
    if not verdict.accepted:
        return "red"
    waits = verdict.queue is not None and not verdict.queue.starts_now
    return "yellow" if waits else "green"


def _asked_for_format() -> bool:
    """People who name no format get the report, and not the default of a submit."""
    source = click.get_current_context().get_parameter_source("layout")
    return source is ParameterSource.COMMANDLINE
