"""``--dry-run``: prints the plan of a job and creates nothing."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING, NoReturn

import click
from click.core import ParameterSource

from footplate.cli.dry_run_report import UNLIMITED, headline, report, report_packages
from footplate.cli.output_format import render
from footplate.cli.terminal_text import disarm
from footplate.wire.footplate_v1 import package_checks_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.cli.formats.format_spec import Layout
    from footplate.client.validation import Checked
    from footplate.domain.preview.package_check import PackageCheck
    from footplate.domain.preview.verdict import Verdict

_COLUMNS = {"VERDICT": "verdict", "GOOGLE_ACCEPTS": "parity.accepted"}


def finish(
    checked: Checked, layout: Layout, packages: Sequence[PackageCheck] | None = None
) -> NoReturn:
    """Print the verdict, and end: with 0 if the job is accepted, with 1 if it is refused.

    ``packages``: what was found where they were checked; those that fail end it with 1, too.
    """
    verdict = checked.verdict
    failing = any(each.error for each in packages or ())
    if _asked_for_format():
        found = {} if packages is None else package_checks_json(packages)
        click.echo(render({**checked.resource, **found}, layout, _COLUMNS))
    else:
        _report(verdict, failing=failing)
        if packages is not None:
            click.echo(f"\n{disarm(report_packages(packages))}")
    sys.exit(0 if verdict.accepted and not failing else 1)


def _report(verdict: Verdict, *, failing: bool) -> None:
    shown = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if shown else UNLIMITED
    top, rest = headline(verdict, width), report(verdict, width)
    if failing:
        top = "FAILS: the job would be accepted, and fail when its packages are installed."
    click.secho(disarm(top) if shown else top, fg="red" if failing else _colour(verdict))
    if not verdict.violations:
        click.echo()
    click.echo(disarm(rest) if shown else rest)


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
